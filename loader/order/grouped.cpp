#include <algorithm>
#include <map>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/random.h"
#include "loader/order/order.h"
#include "loader/order/picks.h"

namespace feedrate::loader {
using namespace formats;

namespace {

/// Groups come in rounds, in which every class comes at most once: so no group holds a class twice,
/// and the number of a round says how often a class was due before it.
class Grouped final : public Picks {
 public:
  Grouped(std::span<const std::int32_t> labels, const std::map<std::int32_t, std::uint64_t>& counts,
          std::uint32_t classes, std::uint32_t each)
      : Picks(std::max<std::uint64_t>(1, total(counts) / (std::uint64_t{classes} * each)) *
              classes * each),
        classes_(classes),
        each_(each),
        round_(counts.size() / classes * classes) {
    std::map<std::int32_t, std::uint64_t> next;
    for (const auto& [label, count] : counts) {
      next[label] = begins_.back();
      begins_.push_back(begins_.back() + count);
    }
    indices_.resize(begins_.back());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] >= 0) indices_[next[labels[i]]++] = i;
    }
  }

  std::uint64_t together() const override { return std::uint64_t{classes_} * each_; }

  std::uint64_t index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t pick) const override {
    const std::uint64_t key = mix64(mix64(seed ^ 0x6e04U) + mix64(epoch ^ 0x9c1aU));
    const std::uint64_t turn = pick / each_;  // the class's, counted through all groups
    const std::uint64_t round = turn / round_;
    const std::uint64_t which = Order(begins_.size() - 1, key, round, true).index(turn % round_);
    const std::uint64_t begin = begins_[which], count = begins_[which + 1] - begin;
    // Passes over the class's samples: each is shuffled and holds whole turns, as long as the class
    // has enough samples for one.
    const std::uint64_t pass = std::max<std::uint64_t>(1, count / each_);
    const Order order(count, mix64(key ^ which), round / pass, true);
    return indices_[begin + order.index((round % pass * each_ + pick % each_) % count)];
  }

 private:
  static std::uint64_t total(const std::map<std::int32_t, std::uint64_t>& counts) {
    std::uint64_t all = 0;
    for (const auto& [label, count] : counts) all += count;
    return all;
  }

  std::uint32_t classes_, each_;
  std::uint64_t round_;                   // classes in a round
  std::vector<std::uint64_t> begins_{0};  // of each class in indices_, and their end
  std::vector<std::uint64_t> indices_;
};

}  // namespace

std::unique_ptr<const Picks> grouped_by_class(std::span<const std::int32_t> labels,
                                              std::uint32_t classes, std::uint32_t each) {
  if (classes == 0 || each == 0) {
    throw Error(join("groups: expected at least 1 class and 1 sample of each, found ", classes,
                     " x ", each));
  }
  std::map<std::int32_t, std::uint64_t> counts;
  for (const std::int32_t label : labels) {
    if (label >= 0) ++counts[label];
  }
  if (counts.size() < classes) {
    throw Error(join("groups: ", classes, " classes requested, the dataset has samples of ",
                     counts.size()));
  }
  return std::make_unique<Grouped>(labels, counts, classes, each);
}

}  // namespace feedrate::loader
