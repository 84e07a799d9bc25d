// Apart from the registry of backends, so that the CUDA plug-in takes this without the CPU backend.

#include "formats/error.h"
#include "trainer/backend.h"

namespace feedrate {

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

}  // namespace feedrate
