#pragma once
// Which samples an epoch holds, where it is not each of the dataset's once.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/dataset.h"

namespace feedrate::loader {

/// The picks of an epoch, numbered from 0, and their samples: pure arithmetic on (seed, epoch, number),
/// so that a run resumes anywhere in constant time and ranks share an epoch as any other. Immutable; any thread.
/// The same on every machine.
class Picks {
 public:
  virtual ~Picks() = default;
  /// How many samples an epoch holds.
  std::uint64_t size() const { return size_; }
  /// The sample of that epoch's pick number `pick` (0 … size() - 1).
  virtual std::uint64_t index(std::uint64_t seed, std::uint64_t epoch,
                              std::uint64_t pick) const = 0;
  /// How many picks in a row belong together, so that a batch has to hold a multiple of them.
  virtual std::uint64_t together() const { return 1; }
  /// Whether the picks have to be shuffled to be in a random order.
  virtual bool needs_shuffle() const { return false; }

 protected:
  explicit Picks(std::uint64_t size) : size_(size) {}

 private:
  std::uint64_t size_;
};

/// These samples of a dataset of `samples`, in this order; one may come several times. 8 bytes an
/// entry. Throws Error for an index beyond the dataset, and for an empty list.
std::unique_ptr<const Picks> listed(std::vector<std::uint64_t> indices, std::uint64_t samples);

/// `draws` samples an epoch, with replacement, each sample with a probability of its weight's share
/// of all. 16 bytes a sample. Throws Error for a weight that is negative or no number, for weights
/// of which none is positive, and for no draws.
std::unique_ptr<const Picks> weighted(const std::vector<double>& weights, std::uint64_t draws);

/// Groups of `classes` × `each` samples: that many different classes, one after the other, and as
/// many different samples of each, as far as it has them. Groups go through all classes before one
/// comes again, but for the few that do not fill a group, and through all samples of a class in the
/// same way. An epoch holds as many groups as the dataset can fill, at least one. 8 bytes a sample.
/// A sample whose label is below 0 is in no group. Throws Error where labels holds fewer classes.
std::unique_ptr<const Picks> grouped_by_class(std::span<const std::int32_t> labels,
                                              std::uint32_t classes, std::uint32_t each);

/// A dataset of a mix: that many samples, and their share of an epoch in proportion to the others'.
struct MixMember {
  std::uint64_t samples;
  double weight;
};

/// Draws from several datasets, which `Joined` makes one: `draws` samples an epoch, of which each
/// member has its weight's share to the nearest sample. A member's samples come once each, in an order
/// of their own, before one comes again, also from epoch to epoch. Without `shuffle` the members and
/// their samples follow one another as they are. Throws Error for a weight that is not positive and
/// for a member that would have no sample.
std::unique_ptr<const Picks> mixed(std::vector<MixMember> members, std::uint64_t draws,
                                   bool shuffle);

/// Weights with which every class is drawn as often as any other, and a sample whose label is below 0 never.
std::vector<double> balancing_weights(std::span<const std::int32_t> labels);

}  // namespace feedrate::loader
