// Compiled without fused multiply-add (CMakeLists.txt): a last bit that differed between machines
// could draw another sample.

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/random.h"
#include "loader/order/picks.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// Walker's alias method: a draw takes a column, and there either its sample or the alias.
struct Column {
  double share;  // of the column that belongs to its own sample
  std::uint64_t alias;
};

class Weighted final : public Picks {
 public:
  Weighted(std::vector<Column> columns, std::uint64_t draws)
      : Picks(draws), columns_(std::move(columns)) {}

  std::uint64_t index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t pick) const override {
    const std::uint64_t key = mix64(mix64(seed ^ 0x91c4U) + mix64(epoch ^ 0xd4a3U));
    __extension__ using Wide = unsigned __int128;
    const auto at = static_cast<std::uint64_t>(
        static_cast<Wide>(random_bits(key, 2 * pick)) * columns_.size() >> 64);
    const double share = static_cast<double>(random_bits(key, 2 * pick + 1) >> 11) * 0x1p-53;
    return share < columns_[at].share ? at : columns_[at].alias;
  }

 private:
  std::vector<Column> columns_;
};

double checked_sum(const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw Error(join("weights: that of sample ", i, " is ", weights[i], ", expected 0 or more"));
    sum += weights[i];
  }
  if (!(sum > 0) || !std::isfinite(sum)) {
    throw Error(join("weights: their sum is ", sum, ", expected a number above 0"));
  }
  return sum;
}

// Vose's construction: columns that are too full fill up those that are not.
std::vector<Column> columns_of(const std::vector<double>& weights) {
  const double sum = checked_sum(weights);
  std::vector<Column> columns;
  columns.reserve(weights.size());
  const auto count = static_cast<double>(weights.size());
  std::vector<std::uint64_t> lacking, full;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    columns.push_back({weights[i] / sum * count, i});
    (columns[i].share < 1 ? lacking : full).push_back(i);
  }
  while (!lacking.empty() && !full.empty()) {
    Column& low = columns[lacking.back()];
    lacking.pop_back();
    Column& high = columns[full.back()];
    low.alias = full.back();
    high.share -= 1 - low.share;
    if (high.share >= 1) continue;
    lacking.push_back(full.back());
    full.pop_back();
  }
  // What is left lacks only what rounding took; but a weight of 0 is never drawn.
  const auto heaviest =
      static_cast<std::uint64_t>(std::ranges::max_element(weights) - weights.begin());
  for (const auto& rest : {lacking, full}) {
    for (const std::uint64_t i : rest) columns[i] = {weights[i] > 0 ? 1.0 : 0.0, heaviest};
  }
  return columns;
}

}  // namespace

std::unique_ptr<const Picks> weighted(const std::vector<double>& weights, std::uint64_t draws) {
  if (draws == 0) throw Error("weights: an epoch needs at least 1 draw");
  return std::make_unique<Weighted>(columns_of(weights), draws);
}

}  // namespace feedrate::loader
