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

std::vector<std::int32_t> labels_of(const Dataset& dataset) {
  std::vector<std::int32_t> labels;
  labels.reserve(dataset.size());
  Scratch scratch;
  for (std::uint64_t index = 0; index < dataset.size(); ++index) {
    labels.push_back(dataset.label(index, scratch));
    if (labels.back() < 0) {
      fail(dataset.info().path, "sample ", index, ": label ", labels.back(), " is no class");
    }
  }
  return labels;
}

std::vector<double> balancing_weights(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t label : labels) ++counts[label];
  std::vector<double> weights;
  weights.reserve(labels.size());
  for (const std::int32_t label : labels) weights.push_back(1 / counts[label]);
  return weights;
}

}  // namespace feedrate::loader
