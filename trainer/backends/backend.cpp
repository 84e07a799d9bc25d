#include "trainer/backends/backend.h"

#include "formats/base/error.h"
#include "trainer/backends/plugins/plugin_backend.h"

namespace feedrate::trainer {
using namespace formats;

#define FEEDRATE_ROW(name, summary) const PluginBackend name##_backend(#name, summary);
namespace {
#include "trainer/backends/list.inc"
}  // namespace
#undef FEEDRATE_ROW

std::span<const Backend* const> backends() {
  static const Backend* const rows[] = {
#define FEEDRATE_ROW(name, summary) &name##_backend,
#include "trainer/backends/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Backend& backend(std::string_view name) { return find_kind("device", name, backends()); }

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
