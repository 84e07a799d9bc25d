// What sessions share. Not in backend.cpp, whose registry would link the CPU backend into the CUDA
// plug-in.

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/image_decoder.h"
#include "trainer/ops/pixels.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

void check_type(const Plan& plan, const Batch& batch, PixelType wanted) {
  if (batch.type != wanted) {
    throw Error(join("batch ", batch.number, ": holds ", name(batch.type),
                     ", but the session was made for ", name(wanted),
                     "; give LoaderOptions and SessionOptions the same pixels"));
  }
  if (batch.layout != usual_layout(wanted) && batch.shape.channels > 1) {
    throw Error(join("batch ", batch.number, ": its images are ", name(batch.layout),
                     ", but networks take ", name(usual_layout(wanted)), " for ", name(wanted),
                     "; leave LoaderOptions::Pixels::layout empty"));
  }
  if (wanted == PixelType::u8 || wanted == PixelType::packed) return;
  const PixelScales scales = input_scales(plan.graph);
  for (std::int64_t c = 0; c < plan.graph.input.channels; ++c) {
    const PixelScale &made = scale_of(batch.scales, c), &own = scale_of(scales, c);
    if (made == own) continue;
    throw Error(join("batch ", batch.number, ": its numbers were made with mean ", made.mean,
                     " and scale ", made.scale, ", but network ", plan.graph.network,
                     " takes mean ", own.mean, " and scale ", own.scale));
  }
}

// The name of the node's first learned parameter that is not finite; "" where all are finite.
std::string first_not_finite(const Session& session, const Node& node) {
  for (const std::size_t number : node.parameters) {
    const Parameter& parameter = session.plan().graph.parameters[number];
    if (parameter.learned && !all_finite(session.parameter(number))) return parameter.name;
  }
  return "";
}

}  // namespace

std::unique_ptr<ImageDecoder> Backend::image_decoder(const DecoderSize&) const {
  throw Error(join("the ", name(), " backend decodes no images; the loader's threads do"));
}

void check_batch(const Plan& plan, const Batch& batch, PixelType wanted) {
  const Shape& taken = plan.graph.input;
  const std::string where = join("batch ", batch.number);
  if (batch.shape != taken) {
    throw Error(join(where, ": network ", plan.graph.network, " was built for images of ",
                     taken.height, "x", taken.width, "x", taken.channels, ", not ",
                     batch.shape.height, "x", batch.shape.width, "x", batch.shape.channels));
  }
  if (batch.count == 0 || batch.count > plan.batch) {
    throw Error(join(where, ": holds ", batch.count, " images; expected 1 to ", plan.batch));
  }
  check_type(plan, batch, wanted);
  const std::size_t image_bytes =
      wanted == PixelType::packed ? batch.seat_bytes : taken.bytes() * bytes_of(wanted);
  if (batch.bytes().size() != batch.count * image_bytes || batch.labels.size() != batch.count) {
    throw Error(
        join(where, ": the number of pixels or labels does not match ", batch.count, " images"));
  }
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    const std::int32_t label = batch.labels[i];
    if (label < 0 || label >= static_cast<std::int64_t>(plan.graph.classes)) {
      throw Error(join(where, ", image ", i, ": label ", label, " is not one of the network's ",
                       plan.graph.classes, " classes"));
    }
  }
}

Divergence divergence_at(const Session& session, std::uint64_t step, std::size_t node, bool alone) {
  const std::vector<Node>& nodes = session.plan().graph.nodes;
  if (node == nodes.size() && !alone) return {step, "a layer of another rank", ""};
  const Node& found = nodes[std::min(node, nodes.size() - 1)];
  return {step, found.name, first_not_finite(session, found)};
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

UpdateScale update_scale(const Parameter& parameter) {
  return {.rate = parameter.rate_scale,
          .decay = parameter.decay_scale,
          .matrix = parameter.shape.size() > 1};
}

}  // namespace feedrate::trainer
