#include "trainer/backend.h"

#include "formats/error.h"

namespace feedrate {

extern const Backend& cpu_backend;
extern const Backend& cuda_backend;

std::span<const Backend* const> backends() {
  static const Backend* const rows[] = {
      &cpu_backend,
      &cuda_backend,
  };
  return rows;
}

const Backend& backend(std::string_view name) { return find_kind("device", name, backends()); }

void check_batch(const Plan& plan, const Batch& batch) {
  const Shape& wanted = plan.graph.input;
  const std::string where = join("batch ", batch.number);
  if (batch.shape != wanted) {
    throw Error(join(where, ": network ", plan.graph.network, " was built for images of ",
                     wanted.height, "x", wanted.width, "x", wanted.channels, ", not ",
                     batch.shape.height, "x", batch.shape.width, "x", batch.shape.channels));
  }
  if (batch.count == 0 || batch.count > plan.batch) {
    throw Error(join(where, ": holds ", batch.count, " images; expected 1 to ", plan.batch));
  }
  if (batch.pixels.size() != batch.count * wanted.bytes() || batch.labels.size() != batch.count) {
    throw Error(join(where, ": pixels or labels are not those of ", batch.count, " images"));
  }
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    const std::int32_t label = batch.labels[i];
    if (label < 0 || label >= static_cast<std::int64_t>(plan.graph.classes)) {
      throw Error(join(where, ", image ", i, ": label ", label, " is not one of the network's ",
                       plan.graph.classes, " classes"));
    }
  }
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

}  // namespace feedrate
