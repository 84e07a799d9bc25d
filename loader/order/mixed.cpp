// Compiled without fused multiply-add (CMakeLists.txt), as weighted.cpp.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/random.h"
#include "loader/order/order.h"
#include "loader/order/picks.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class Mixed final : public Picks {
 public:
  struct Member {
    std::uint64_t first;  // of its samples, among all
    std::uint64_t samples;
    std::uint64_t begin;  // of its picks in an epoch
    std::uint64_t quota;  // and their number
  };

  Mixed(std::vector<Member> members, std::uint64_t draws, bool shuffle)
      : Picks(draws), members_(std::move(members)), shuffle_(shuffle) {}

  bool needs_shuffle() const override { return shuffle_; }

  std::uint64_t index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t pick) const override {
    const auto member = std::ranges::upper_bound(members_, pick, {}, &Member::begin) - 1;
    __extension__ using Wide = unsigned __int128;
    const Wide drawn = static_cast<Wide>(epoch) * member->quota + (pick - member->begin);
    const auto position = static_cast<std::uint64_t>(drawn % member->samples);
    const auto pass = static_cast<std::uint64_t>(drawn / member->samples);
    return member->first +
           Order(member->samples, mix64(seed ^ 0x31bdU) + member->first, pass, shuffle_)
               .index(position);
  }

 private:
  std::vector<Member> members_;  // by `begin`; all have some picks
  bool shuffle_;
};

// Whole numbers that sum to `draws`: rounded down, and one more for the largest remainders.
std::vector<std::uint64_t> quotas_of(const std::vector<MixMember>& members, std::uint64_t draws) {
  double sum = 0;
  for (const MixMember& member : members) sum += member.weight;
  if (!std::isfinite(sum)) throw Error("mix: the sum of the weights is too large for a number");
  std::vector<std::uint64_t> quotas;
  std::vector<double> remainders;
  std::uint64_t left = draws;  // never less than 0, however shares are rounded
  for (const MixMember& member : members) {
    const double share = member.weight / sum * static_cast<double>(draws);
    quotas.push_back(share < static_cast<double>(left) ? static_cast<std::uint64_t>(share) : left);
    left -= quotas.back();
    remainders.push_back(share - std::floor(share));
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++quotas[order[i % order.size()]];
  return quotas;
}

}  // namespace

std::unique_ptr<const Picks> mixed(std::vector<MixMember> members, std::uint64_t draws,
                                   bool shuffle) {
  if (members.empty()) throw Error("mix: it names no dataset");
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!(members[i].weight > 0) || !std::isfinite(members[i].weight)) {
      throw Error(join("mix: the weight of dataset ", i, " is ", members[i].weight,
                       ", expected a number above 0"));
    }
    if (members[i].samples == 0) throw Error(join("mix: dataset ", i, " holds no samples"));
  }
  const std::vector<std::uint64_t> quotas = quotas_of(members, draws);
  std::vector<Mixed::Member> ranges;
  std::uint64_t first = 0, begin = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (quotas[i] == 0) {
      throw Error(join("mix: dataset ", i, " has no sample in an epoch of ", draws,
                       "; its weight is too small"));
    }
    ranges.push_back({first, members[i].samples, begin, quotas[i]});
    first += members[i].samples;
    begin += quotas[i];
  }
  return std::make_unique<Mixed>(std::move(ranges), draws, shuffle);
}

}  // namespace feedrate::loader
