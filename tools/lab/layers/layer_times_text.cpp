#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/layers/layer_times.h"
#include "tools/lab/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

using nlohmann::ordered_json;

constexpr double giga = 1e9;
constexpr const char* columns = "  {} {:<12} {:>15} {:>9} {:>9} {:>7} {:>9} {:>8}\n";
constexpr std::size_t name_columns = 22;
constexpr std::size_t most_layers = 10;  // unless all are wanted

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

std::string headline(const LayerTimes& times) {
  return fmt::format(
      "{} on {}, {}, batch {}: {} a step (median of {}), {} images/s; {} parameters, {} "
      "multiply-adds an image forward\n",
      times.request.network, times.device_name, times.request.device.precision, times.request.batch,
      duration_text(times.step_seconds), times.steps, quantity(times.images_per_second()),
      grouped(static_cast<std::uint64_t>(times.parameters)), grouped(times.macs));
}

/// Of a step; nothing for what took no time of its own.
std::optional<double> share(double seconds, const LayerTimes& times) {
  return seconds > 0 ? std::optional(seconds / times.step_seconds) : std::nullopt;
}

std::string rest_row(const LayerTimes& times) {
  return fmt::format(columns, fitted("update and the rest", name_columns), "", "",
                     cell(times.rest(), 1e3), "", cell(times.rest() / times.step_seconds, 100), "",
                     "");
}

std::string operator_table(const LayerTimes& times) {
  constexpr const char* row = "  {:<12} {:>7} {:>9} {:>9} {:>7} {:>9}\n";
  std::string text =
      fmt::format(row, "operator", "layers", "forward", "backward", "share", "GFLOP/s");
  text += fmt::format(row, "", "", "ms", "ms", "%", "");
  for (const OperatorTime& one : times.by_operator()) {
    const auto took = [](double seconds) {
      return cell(seconds > 0 ? std::optional(seconds) : std::nullopt, 1e3);
    };
    text +=
        fmt::format(row, one.op, one.layers, took(one.forward), took(one.backward),
                    cell(share(one.seconds(), times), 100), cell(one.flops_per_second(), 1 / giga));
  }
  return text + fmt::format(row, "the rest", "", cell(times.rest(), 1e3), "",
                            cell(times.rest() / times.step_seconds, 100), "");
}

std::string layer_table(const LayerTimes& times, std::string_view title,
                        const std::vector<LayerTime>& layers) {
  std::string text = fmt::format(columns, fitted(title, name_columns), "op", "output", "forward",
                                 "backward", "share", "GFLOP/s", "of roof");
  text += fmt::format(columns, fitted("", name_columns), "", "C × H × W", "ms", "ms", "%", "", "%");
  for (const LayerTime& layer : layers) {
    text += fmt::format(columns, fitted(layer.name, name_columns), layer.op,
                        extent_text(layer.extent), cell(layer.forward, 1e3),
                        cell(layer.backward, 1e3), cell(share(layer.seconds(), times), 100),
                        cell(layer.flops_per_second(), 1 / giga),
                        cell(layer.of_roofline(times.roof), 100));
  }
  return text;
}

std::string notes(const LayerTimes& times) {
  std::string text;
  const bool merged = std::ranges::any_of(
      times.layers, [](const LayerTime& layer) { return !layer.forward && !layer.backward; });
  if (merged) text += "  –: computed with the layer before or after it, or not at all\n";
  if (times.roof) {
    text += fmt::format(
        "  the roof, measured now: {} GFLOP/s of matrix products in {}, {} GB/s of copying; "
        "values in a cache can beat it\n",
        quantity(times.roof->flops / giga), times.roof->precision,
        quantity(times.roof->bytes / giga));
  }
  return text;
}

}  // namespace

std::string LayerTimes::text() const {
  std::vector<LayerTime> costliest = layers;
  std::ranges::stable_sort(costliest, std::ranges::greater{}, &LayerTime::seconds);
  std::erase_if(costliest, [](const LayerTime& layer) { return layer.seconds() <= 0; });
  std::string title = "layer";
  if (costliest.size() > most_layers) {
    costliest.resize(most_layers);
    title = fmt::format("layer, {} of {}", most_layers, layers.size());
  }
  std::string text = headline(*this) + operator_table(*this);
  if (!costliest.empty()) {
    text += '\n';
    text += layer_table(*this, title, costliest);
  }
  return text + notes(*this);
}

std::string LayerTimes::text_of_all() const {
  return headline(*this) + layer_table(*this, "layer", layers) + rest_row(*this) + notes(*this);
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
  ordered_json operators = ordered_json::array();
  for (const OperatorTime& one : by_operator()) {
    operators.push_back({{"op", one.op},
                         {"layers", one.layers},
                         {"forward_ms", rounded(one.forward * 1e3, 4)},
                         {"backward_ms", rounded(one.backward * 1e3, 4)},
                         {"share", or_null<ordered_json>(share(one.seconds(), *this), 4)},
                         {"gflops_per_second", scaled(one.flops_per_second(), 1 / giga, 2)}});
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
                                   {"gb_per_second", rounded(roof->bytes / giga, 1)},
                                   {"precision", roof->precision},
                                   {"value_bytes", roof->value_bytes}}
                    : ordered_json(nullptr)},
      {"by_operator", operators},
      {"layers", list}};
  return json_text(object);
}

}  // namespace feedrate::tools
