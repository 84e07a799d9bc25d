#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/bars.h"
#include "tools/cli/text.h"
#include "tools/measure/or_null.h"
#include "tools/run/layer_times.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

using nlohmann::ordered_json;

constexpr double giga = 1e9;
constexpr const char* columns = "  {} {:<12} {:>15} {:>9} {:>9} {:>7} {:>9} {:>8}\n";
constexpr std::size_t name_columns = 22;

ordered_json scaled(std::optional<double> value, double scale, int digits) {
  if (value) *value *= scale;
  return or_null<ordered_json>(value, digits);
}

std::string cell(const std::optional<double>& value, double scale, std::string_view unit = "") {
  if (!value) return "–";
  const double scaled = *value * scale;
  return fmt::format("{:.{}f}{}", scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0, unit);
}

std::string extent_text(const Extent& extent) {
  return fmt::format("{} × {} × {}", extent.channels, extent.height, extent.width);
}

}  // namespace

std::string LayerTimes::text() const {
  std::string text = fmt::format(
      "{} on {}, {}, batch {}: {} a step (median of {}), {} images/s; {} parameters, {} "
      "multiply-adds an image forward\n",
      request.network, device_name, request.device.precision, request.batch,
      duration_text(step_seconds), steps, quantity(images_per_second()),
      grouped(static_cast<std::uint64_t>(parameters)), grouped(macs));
  text += fmt::format(columns, fitted("layer", name_columns), "op", "output", "forward", "backward",
                      "share", "GFLOP/s", "of roof");
  text += fmt::format(columns, fitted("", name_columns), "", "C × H × W", "ms", "ms", "%", "", "%");
  for (const LayerTime& layer : layers) {
    const double share = layer.seconds() / step_seconds;
    text +=
        fmt::format(columns, fitted(layer.name, name_columns), layer.op, extent_text(layer.extent),
                    cell(layer.forward, 1e3), cell(layer.backward, 1e3),
                    cell(layer.seconds() > 0 ? std::optional(share) : std::nullopt, 100),
                    cell(layer.flops_per_second(), 1 / giga), cell(layer.of_roofline(roof), 100));
  }
  text += fmt::format(columns, fitted("update and the rest", name_columns), "", "",
                      cell(rest(), 1e3), "", cell(rest() / step_seconds, 100), "", "");
  const bool merged = std::ranges::any_of(
      layers, [](const LayerTime& layer) { return !layer.forward && !layer.backward; });
  if (merged) text += "  –: computed with the layer before or after it, or not at all\n";
  if (roof) {
    text += fmt::format(
        "  the roof, measured now: {} GFLOP/s of matrix products in fp32, {} GB/s of copying; "
        "values in a cache can beat it\n",
        quantity(roof->flops / giga), quantity(roof->bytes / giga));
  }
  return text;
}

std::string LayerTimes::json() const {
  ordered_json list = ordered_json::array();
  for (const LayerTime& layer : layers) {
    list.push_back({{"name", layer.name},
                    {"op", layer.op},
                    {"extent", {layer.extent.channels, layer.extent.height, layer.extent.width}},
                    {"forward_ms", scaled(layer.forward, 1e3, 4)},
                    {"backward_ms", scaled(layer.backward, 1e3, 4)},
                    {"forward_flops", layer.work.forward.flops},
                    {"backward_flops", layer.work.backward.flops},
                    {"forward_bytes", layer.work.forward.bytes},
                    {"backward_bytes", layer.work.backward.bytes},
                    {"gflops_per_second", scaled(layer.flops_per_second(), 1 / giga, 2)},
                    {"of_roofline", or_null<ordered_json>(layer.of_roofline(roof), 4)}});
  }
  const ordered_json object = {
      {"network", request.network},
      {"device", request.device.name},
      {"device_name", device_name},
      {"precision", request.device.precision},
      {"batch", request.batch},
      {"parameters", parameters},
      {"macs", macs},
      {"steps", steps},
      {"step_ms", rounded(step_seconds * 1e3, 4)},
      {"rest_ms", rounded(rest() * 1e3, 4)},
      {"images_per_second", rounded(images_per_second(), 3)},
      {"roof", roof ? ordered_json{{"gflops_per_second", rounded(roof->flops / giga, 1)},
                                   {"gb_per_second", rounded(roof->bytes / giga, 1)}}
                    : ordered_json(nullptr)},
      {"layers", list}};
  return json_text(object);
}

}  // namespace feedrate::tools
