#pragma once
// Samples that cannot be read, decoded or augmented, and what happens to their seats in a batch.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/error.h"
#include "formats/dataset.h"

namespace feedrate::loader {

/// What to do about a bad sample. Under `replace` and `skip` every batch stays a pure function of
/// the options and the data: the same at any number of threads, damage included.
enum class BadPolicy : std::uint8_t {
  fail,     // the next() that would return its batch throws Error
  replace,  // another sample, drawn by (seed, epoch, index), takes its seat
  skip,     // its seat is removed: the batch is smaller
};

struct BadSample {
  formats::SamplePlace place;
  std::uint64_t index = 0;  // in the dataset
  std::string key;          // the sample's name; empty when it has none or could not be read
  std::string reason;       // reason_with_place()
};

/// Why the sample at `index` is bad: what `error` says, behind the file and the sample. Readers name
/// these themselves; decoders and the loader's own checks know neither. Any thread.
std::string reason_with_place(const formats::Dataset& dataset, std::uint64_t index,
                              std::string_view key, const std::exception& error);

/// What Loader::next() throws under BadPolicy::fail and, of a sample whose bytes did not come, under every
/// policy. Its text is the reason.
class SampleError : public formats::Error {
 public:
  explicit SampleError(BadSample sample, bool damaged = true)
      : Error(sample.reason), sample_(std::move(sample)), damaged_(damaged) {}
  const BadSample& sample() const noexcept { return sample_; }
  /// False: nothing was read, since a server refused or a cache had no room.
  bool damaged() const noexcept { return damaged_; }

 private:
  BadSample sample_;
  bool damaged_;
};

/// Writes the samples as tab-separated lines under a header: file, offset, index, key, reason.
/// Throws Error when the file cannot be written.
void write_quarantine(const std::filesystem::path& file, std::span<const BadSample> samples);

namespace detail {

/// A seat whose sample is bad, as reported by a worker.
struct Fault {
  std::uint32_t seat = 0;
  std::uint64_t index = 0;
  std::string key;
  std::string reason;
};

/// The bad samples so far, each once. Filled by the consumer, batch by batch and seat by seat, so
/// that neither the list nor the sample that exceeds the budget depends on timing. One thread.
class BadList {
 public:
  BadList(const formats::Dataset& dataset, std::uint64_t budget)
      : dataset_(dataset), budget_(budget) {}
  /// Adds the samples that are not in the list yet. Throws Error when the list exceeds the budget.
  void add(std::span<Fault> faults);
  const std::vector<BadSample>& samples() const { return samples_; }

 private:
  const formats::Dataset& dataset_;
  std::uint64_t budget_;
  std::vector<BadSample> samples_;
};

}  // namespace detail
}  // namespace feedrate::loader
