#include "trainer/backends/backend.h"

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"

namespace feedrate::trainer {
using namespace formats;

extern const Backend& cpu_backend;
extern const Backend& cuda_backend;

namespace {

// The name of the node's first learned parameter that is not finite; "" where all are finite.
std::string first_not_finite(const Session& session, const Node& node) {
  for (const std::size_t number : node.parameters) {
    const Parameter& parameter = session.plan().graph.parameters[number];
    if (!parameter.learned) continue;
    const std::vector<float> values = session.parameter(number);
    const bool finite =
        std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (!finite) return parameter.name;
  }
  return "";
}

}  // namespace

std::span<const Backend* const> backends() {
  static const Backend* const rows[] = {
      &cpu_backend,
      &cuda_backend,
  };
  return rows;
}

const Backend& backend(std::string_view name) { return find_kind("device", name, backends()); }

std::optional<Roof> Backend::measure_roof(unsigned) const { return std::nullopt; }

Divergence divergence_at(const Session& session, std::uint64_t step, std::size_t node, bool alone) {
  const std::vector<Node>& nodes = session.plan().graph.nodes;
  if (node == nodes.size() && !alone) return {step, "a layer of another rank", ""};
  const Node& found = nodes[std::min(node, nodes.size() - 1)];
  return {step, found.name, first_not_finite(session, found)};
}

void initialise(Session& session, std::uint64_t seed) {
  const std::vector<Parameter>& parameters = session.plan().graph.parameters;
  for (std::size_t number = 0; number < parameters.size(); ++number) {
    const std::vector<float> values = initial_values(parameters[number], number, seed);
    session.set_parameter(number, values);
    const std::vector<float> zeros(values.size());
    for (std::size_t slot = 0; slot < session.states(); ++slot) {
      session.set_state(number, slot, zeros);
    }
  }
}

}  // namespace feedrate::trainer
