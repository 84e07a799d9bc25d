#include "trainer/backends/cpu/products/value_choice.h"

#include <algorithm>
#include <cstdint>

#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {
namespace {

// Nodes that keep one type, named by the lowest of them, and what counts for bf16 in each.
class Regions {
 public:
  explicit Regions(const Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      lowest_.push_back(i);
      votes_.push_back({});
      if (is_product(i)) continue;
      for (const std::size_t input : graph.nodes[i].inputs) join(i, input);
    }
  }

  bool is_product(std::size_t i) const {
    return graph_.nodes[i].op->traits().weights != WeightKind::none;
  }
  std::size_t of(std::size_t i) const {
    while (lowest_[i] != i) i = lowest_[i];
    return i;
  }
  void vote(std::size_t value, bool for_bf16) {
    const std::int64_t values = graph_.nodes[value].extent.elements();
    Votes& votes = votes_[of(value)];
    (for_bf16 ? votes.bf16 : votes.fp32) += values;
  }
  bool prefers_bf16(std::size_t region, NarrowValues where) const {
    const Votes& votes = votes_[region];
    return votes.bf16 > (where == NarrowValues::where_most ? votes.fp32 : 0);
  }

 private:
  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({of(a), of(b)});
    lowest_[high] = low;
  }

  struct Votes {
    std::int64_t bf16 = 0, fp32 = 0;  // values
  };

  const Graph& graph_;
  std::vector<std::size_t> lowest_;  // by node: a lower node of its region, or itself
  std::vector<Votes> votes_;         // by the lowest node
};

}  // namespace

std::vector<ValueType> choose_value_types(const Plan& plan, const std::vector<bool>& bf16,
                                          NarrowValues where) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  Regions regions(plan.graph);
  std::vector<bool> ends_in_loss(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op->traits().is_loss) ends_in_loss[regions.of(i)] = true;
    if (!regions.is_product(i)) continue;
    regions.vote(i, bf16[i]);
    for (const std::size_t input : nodes[i].inputs) regions.vote(input, bf16[i]);
  }
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t region = regions.of(i);
    const bool narrow = regions.prefers_bf16(region, where) && !ends_in_loss[region];
    types.push_back(narrow ? ValueType::bf16 : ValueType::fp32);
  }
  return types;
}

}  // namespace feedrate::trainer::cpu
