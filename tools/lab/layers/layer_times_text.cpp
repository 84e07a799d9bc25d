#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "tools/console/bars.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/layers/layer_times.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

constexpr double giga = 1e9;
constexpr const char* columns = "  {} {:<12} {:>15} {:>9} {:>9} {:>7} {:>9} {:>8}\n";
constexpr std::size_t name_columns = 22;
constexpr std::size_t most_layers = 10;  // unless all are wanted

std::optional<double> scaled(std::optional<double> value, double scale) {
  if (value) *value *= scale;
  return value;
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

namespace {

struct Roofed {
  LayerTime layer;
  std::optional<Roof> roof;
};

/// Of a step of this many seconds.
struct Shared {
  OperatorTime time;
  std::optional<double> share;
};

constexpr About about_op{"the operator: `conv`, `dense`, …"};
constexpr About about_gflops{"of products, forward and backward", Unit{"GFLOP/s"},
                             Null{"no products, or no time"}, Digits{2}};

}  // namespace

template <class Field>
void for_each_field(const Roofed& roofed, const Field& field) {
  const LayerTime& layer = roofed.layer;
  const Extent& extent = layer.extent;
  field("name", layer.name, {"of the layer"});
  field("op", layer.op, about_op);
  field("extent", std::array{extent.channels, extent.height, extent.width},
        {"channels, height, width of its output for one image"});
  field("forward_ms", scaled(layer.forward, 1e3),
        {"forward, the median", Unit{"ms"}, Null{"another layer does its work"}, Digits{4}});
  field("backward_ms", scaled(layer.backward, 1e3),
        {"backward, the median", Unit{"ms"}, Null{"another layer does its work; no backward pass"},
         Digits{4}});
  field("forward_flops", layer.work.forward.flops, {"of its products, forward, for the batch"});
  field("backward_flops", layer.work.backward.flops, {"of its products, backward, for the batch"});
  field("forward_bytes", layer.work.forward.bytes,
        {"every value read or written once, forward, of `roof.value_bytes` each", Unit{"bytes"}});
  field("backward_bytes", layer.work.backward.bytes,
        {"every value read or written once, backward, of `roof.value_bytes` each", Unit{"bytes"}});
  field("gflops_per_second", scaled(layer.flops_per_second(), 1 / giga), about_gflops);
  field("of_roofline", layer.of_roofline(roofed.roof),
        {"the shortest time that the roof allows divided by the measured time; above 1 if values "
         "were in a cache",
         Unit{"share"}, Null{"no time, no roof"}, Digits{4}});
}

template <class Field>
void for_each_field(const Shared& shared, const Field& field) {
  const OperatorTime& time = shared.time;
  field("op", time.op, about_op);
  field("layers", time.layers, {"how many there are"});
  field("forward_ms", time.forward * 1e3,
        {"forward; 0 where no layer has a time", Unit{"ms"}, Digits{4}});
  field("backward_ms", time.backward * 1e3,
        {"backward; 0 where no layer has a time", Unit{"ms"}, Digits{4}});
  field("share", shared.share, {"of `step_ms`", Unit{"share"}, Null{"no time"}, Digits{4}});
  field("gflops_per_second", scaled(time.flops_per_second(), 1 / giga), about_gflops);
}

template <class Field>
void for_each_field(const Roof& roof, const Field& field) {
  field("gflops_per_second", roof.flops / giga, {"of matrix products", Unit{"GFLOP/s"}, Digits{1}});
  field("gb_per_second", roof.bytes / giga,
        {"of copying, read and written", Unit{"GB/s"}, Digits{1}});
  field("precision", roof.precision, {"of these products; on the CPU fp32"});
  field("value_bytes", roof.value_bytes, {"of a value in memory", Unit{"bytes"}});
}

template <>
inline constexpr Heading heading_of<LayerTimes>{"time", "What `feedrate time` prints."};

template <class Field>
void for_each_field(const LayerTimes& times, const Field& field) {
  const auto layers_of = [&] {
    std::vector<Roofed> all;
    for (const LayerTime& layer : times.layers) all.push_back({layer, times.roof});
    return all;
  };
  const auto operators_of = [&] {
    std::vector<Shared> all;
    for (const OperatorTime& one : times.by_operator()) {
      all.push_back({one, share(one.seconds(), times)});
    }
    return all;
  };
  field("network", times.request.network, {"that was timed"});
  field("device", times.request.device.name, {"`cpu`, `cuda`"});
  field("device_name", times.device_name, {"its model"});
  field("precision", times.request.device.precision, {"`fp32`, `tf32`, `bf16`, `fp16`"});
  field("batch", times.request.batch, {"images in a step"});
  field("parameters", times.parameters, {"learned values"});
  field("macs", times.macs, {"multiply-adds, forward, for one image"});
  field("steps", times.steps, {"that were timed"});
  field("step_ms", times.step_seconds * 1e3, {"median of a step", Unit{"ms"}, Digits{4}});
  field("rest_ms", times.rest() * 1e3,
        {"of it, outside the layers: mostly the update", Unit{"ms"}, Digits{4}});
  field("images_per_second", times.images_per_second(),
        {"batch / step", Unit{"images/s"}, Digits{3}});
  field("roof", times.roof,
        {"what the device can do, measured in the same run", Null{"not known"}});
  field("by_operator", operators_of(),
        {"the layers of each operator, added up; the costliest first"});
  field("layers", layers_of(), {"in the order of the network"});
}

Description describe_time() { return description_of(LayerTimes{}); }

std::string LayerTimes::json() const { return json_text_of(*this); }

}  // namespace feedrate::tools
