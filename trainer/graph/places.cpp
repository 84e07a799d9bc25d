#include "trainer/graph/places.h"

namespace feedrate::trainer {
namespace {

class Blocks {
 public:
  /// Adds a block and returns its number.
  std::size_t add(const Lifetime& lifetime, std::size_t bytes) {
    lifetimes_.push_back(lifetime);
    sizes_.push_back(bytes);
    return sizes_.size() - 1;
  }
  Arena arena(std::size_t alignment) const { return plan_arena(lifetimes_, sizes_, alignment); }

 private:
  std::vector<Lifetime> lifetimes_;
  std::vector<std::size_t> sizes_;
};

}  // namespace

Places place_all(const Plan& plan, const NodeBytes& bytes, std::size_t alignment,
                 const Fused& fused) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  const std::size_t n = nodes.size();
  const std::size_t end = 2 * n - 1;  // backward of node i is moment end − i
  Blocks blocks;
  Places places;
  for (std::size_t i = 0; i < n; ++i) {
    const bool own = plan.activation_buffers[i] == i;
    places.activations.push_back(blocks.add(plan.activations[i], own ? bytes.outputs[i] : 0));
    const bool own_gradient = plan.has_gradient(i) && plan.gradient_buffers[i] == i;
    places.gradients.push_back(blocks.add(plan.gradients[i], own_gradient ? bytes.outputs[i] : 0));
    places.saved.push_back(blocks.add({i, end - i}, bytes.saved[i]));
  }
  places.input_gradients.resize(n);
  places.sums.resize(n);
  places.terms.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < nodes[j].inputs.size(); ++k) {
      const std::size_t i = nodes[j].inputs[k];
      const Alias* alias = k == 1 ? fused.alias_of(j) : nullptr;
      const BlockEnd* end_of_term = fused.end_with_term(j, k);
      std::size_t block = places.gradients[plan.gradient_buffers[i]];
      if (alias != nullptr) {
        block = places.gradients[plan.gradient_buffers[j]];
        if (alias->added_after != no_node) places.sums[alias->added_after].push_back({i, block});
      } else if (plan.adds[j][k] && plan.has_gradient(i)) {
        const std::size_t reader = end_of_term != nullptr ? end_of_term->sum : j;
        block = blocks.add({end - j, end - reader}, bytes.outputs[i]);
        if (end_of_term == nullptr) places.sums[j].push_back({i, block});
      }
      if (end_of_term != nullptr) places.terms[end_of_term->sum] = block;
      places.input_gradients[j].push_back(block);
    }
  }

  const Arena arena = blocks.arena(alignment);
  const auto offset = [&arena](std::size_t& block) { block = arena.offsets[block]; };
  const std::vector<std::size_t> activation_blocks = places.activations,
                                 gradient_blocks = places.gradients;
  for (std::size_t i = 0; i < n; ++i) {
    places.activations[i] = arena.offsets[activation_blocks[plan.activation_buffers[i]]];
    places.gradients[i] = arena.offsets[gradient_blocks[plan.gradient_buffers[i]]];
    offset(places.saved[i]);
    offset(places.terms[i]);
    for (std::size_t& block : places.input_gradients[i]) offset(block);
    for (GradientSum& sum : places.sums[i]) offset(sum.part);
  }
  places.bytes = arena.bytes;
  return places;
}

}  // namespace feedrate::trainer
