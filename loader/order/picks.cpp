#include "loader/order/picks.h"

#include <map>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class Listed final : public Picks {
 public:
  explicit Listed(std::vector<std::uint64_t> indices)
      : Picks(indices.size()), indices_(std::move(indices)) {}

  std::uint64_t index(std::uint64_t, std::uint64_t, std::uint64_t pick) const override {
    return indices_[pick];
  }

 private:
  std::vector<std::uint64_t> indices_;
};

}  // namespace

std::unique_ptr<const Picks> listed(std::vector<std::uint64_t> indices, std::uint64_t samples) {
  if (indices.empty()) throw Error("order: it lists no samples");
  for (std::size_t place = 0; place < indices.size(); ++place) {
    if (indices[place] >= samples) {
      throw Error(join("order: index ", indices[place], " at place ", place,
                       " is beyond the dataset's ", samples, " samples"));
    }
  }
  return std::make_unique<Listed>(std::move(indices));
}

std::vector<double> balancing_weights(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t label : labels) ++counts[label];
  std::vector<double> weights;
  weights.reserve(labels.size());
  for (const std::int32_t label : labels) weights.push_back(label < 0 ? 0 : 1 / counts[label]);
  return weights;
}

}  // namespace feedrate::loader
