#include "tools/report/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/text.h"

namespace feedrate {
namespace {

using nlohmann::ordered_json;
using Field = std::pair<std::string, std::string>;

constexpr std::size_t most_values = 4;  // of a field, before they are counted only

/// "memory_mib" → "Memory, MiB"
std::string name_of_field(const std::string& key) {
  static const std::map<std::string, std::string> names{{"cpu", "Processor"},
                                                        {"cores", "Cores"},
                                                        {"memory_mib", "Memory, MiB"},
                                                        {"os", "System"},
                                                        {"gpu", "GPU"},
                                                        {"cuda", "CUDA"},
                                                        {"cudnn", "cuDNN"},
                                                        {"time", "Measured, UTC"},
                                                        {"build_type", "Build"},
                                                        {"flags", "Compiler flags"}};
  if (const auto found = names.find(key); found != names.end()) return found->second;
  std::string name = key;
  std::ranges::replace(name, '_', ' ');
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] -= 'a' - 'A';
  return name;
}

std::string value_text(const ordered_json& value) {
  if (value.is_null()) return not_measured;
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_number()) return quantity(value.get<double>());
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text.empty() ? not_measured : text;
  }
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, own] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value_text(own));
  }
  return text;
}

std::string joined(const std::vector<std::string>& values) {
  if (values.size() > most_values) {
    return fmt::format("{} and {} others", values.front(), values.size() - 1);
  }
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : "; ") + value;
  return text;
}

/// Without the columns that no row has anything for: CSV keeps them.
Table without_empty_columns(Table table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    const bool empty = std::ranges::all_of(
        table.rows, [&](const Table::Row& row) { return row.cells[i] == not_measured; });
    if (!empty) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (Table::Row& row : table.rows) row.cells.erase(row.cells.begin() + at);
  }
  return table;
}

/// "2001-02-03T04:05:06Z" → "2001-02-03 04:05:06"
std::string moment(std::string time) {
  std::ranges::replace(time, 'T', ' ');
  if (time.ends_with('Z')) time.pop_back();
  return time;
}

}  // namespace

std::vector<Field> machine_fields(const std::vector<Run>& runs, const std::vector<Study>& studies) {
  std::vector<std::string> keys;
  std::map<std::string, std::vector<std::string>> values;
  for (const Run& run : runs) {
    const auto environment = ordered_json::parse(to_json_line(run)).at("environment");
    for (const auto& [key, value] : environment.items()) {
      if (!values.contains(key)) keys.push_back(key);
      std::vector<std::string>& own = values[key];
      std::string text = value_text(value);
      if (std::ranges::find(own, text) == own.end()) own.push_back(std::move(text));
    }
  }
  std::vector<Field> fields;
  for (const std::string& key : keys) {
    if (key == "command") continue;
    std::vector<std::string>& own = values[key];
    std::string text = joined(own);
    if (key == "time") {
      const auto [first, last] = std::ranges::minmax(own);
      text = moment(first) + (first == last ? "" : " to " + moment(last));
    }
    fields.emplace_back(name_of_field(key), std::move(text));
  }
  std::vector<std::string> images;
  for (const Study& study : studies) {
    std::string text = fmt::format("{}{}digest {:.16}…", study.dataset,
                                   study.dataset.empty() ? "" : ", ", study.digest);
    if (std::ranges::find(images, text) == images.end()) images.push_back(std::move(text));
  }
  fields.emplace_back("Images", joined(images));
  fields.emplace_back("Command", joined(values["command"]));
  return fields;
}

Table rows_table(const std::vector<Run>& runs) {
  constexpr Table::Align left = Table::Align::left;
  Table table{
      .title = "Every row",
      .note = "",
      .columns = {{"kind", left},  {"tool", left},    {"dataset", left}, {"format", left},
                  {"cache", left}, {"network", left}, {"device", left},  {"precision", left},
                  {"batch"},       {"threads"},       {"workers seen"},  {"compute threads"},
                  {"images/s"},    {"lowest"},        {"highest"},       {"repeats"},
                  {"predicted"},   {"stall"},         {"wait ms"},       {"read µs"},
                  {"decode µs"},   {"augment µs"},    {"CPU µs"},        {"CPU s"},
                  {"peak MiB"},    {"CPU J"},         {"GPU MiB"},       {"GPU W"},
                  {"GPU J"}},
      .rows = {}};
  std::vector<const Run*> sorted;
  for (const Run& run : runs) sorted.push_back(&run);
  const auto order = [](const Run& run) {
    const int kind = run.kind == demand_kind ? 0 : run.kind == supply_kind ? 1 : 2;
    return std::tuple(kind, run.network.value_or(""), run.tool, run.dataset, run.format, run.codec,
                      run.cache, run.threads.value_or(0));
  };
  std::ranges::stable_sort(sorted, std::less<>(), [&](const Run* run) { return order(*run); });
  for (const Run* run : sorted) {
    const auto [low, high] = std::ranges::minmax(run->repeats);
    const Telemetry& telemetry = run->telemetry;
    const auto word = [](const std::optional<std::string>& value) {
      return value ? *value : not_measured;
    };
    table.rows.push_back(
        {.cells = {run->kind,
                   run->tool,
                   run->dataset,
                   run->kind == demand_kind ? not_measured : format_and_codec(*run),
                   run->cache,
                   word(run->network),
                   word(run->device),
                   word(run->precision),
                   std::to_string(run->batch),
                   count_cell(run->threads),
                   count_cell(run->workers_seen),
                   count_cell(run->compute_threads),
                   quantity(run->images_per_second),
                   quantity(low),
                   quantity(high),
                   std::to_string(run->repeats.size()),
                   rate_cell(run->predicted),
                   percent_cell(run->stall_percent),
                   rate_cell(run->wait_ms),
                   rate_cell(run->read_us),
                   rate_cell(run->decode_us),
                   rate_cell(run->augment_us),
                   rate_cell(run->cpu_us),
                   rate_cell(telemetry.cpu_seconds),
                   rate_cell(telemetry.peak_rss_mib),
                   rate_cell(telemetry.cpu_energy_j),
                   rate_cell(telemetry.gpu_memory_mib),
                   rate_cell(telemetry.gpu_power_w),
                   rate_cell(telemetry.gpu_energy_j)}});
  }
  return without_empty_columns(std::move(table));
}

}  // namespace feedrate
