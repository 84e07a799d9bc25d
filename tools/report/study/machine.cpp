#include "tools/report/study/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/cli/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using Field = std::pair<std::string, std::string>;

constexpr std::size_t max_values = 4;  // of a field, before they are counted only

/// "gpu_memory_mib" → "GPU memory MiB"
std::string name_of_key(const std::string& key) {
  static const std::map<std::string, std::string> whole{{"images_per_second", "images/s"},
                                                        {"upload_gb_per_s", "upload GB/s"},
                                                        {"download_gb_per_s", "download GB/s"},
                                                        {"os", "system"},
                                                        {"time", "measured, UTC"},
                                                        {"cpu", "processor"},
                                                        {"predicted", "predicted images/s"}};
  static const std::map<std::string, std::string> words{
      {"mib", "MiB"}, {"gpu", "GPU"},     {"cpu", "CPU"},   {"us", "µs"},    {"w", "W"},
      {"j", "J"},     {"mhz", "MHz"},     {"rss", "RSS"},   {"psi", "PSI"},  {"cuda", "CUDA"},
      {"s", "s"},     {"cudnn", "cuDNN"}, {"percent", "%"}, {"seconds", "s"}};
  if (const auto found = whole.find(key); found != whole.end()) return found->second;
  std::string name;
  for (std::size_t start = 0; start <= key.size();) {
    const std::size_t end = std::min(key.find('_', start), key.size());
    const std::string word = key.substr(start, end - start);
    const auto found = words.find(word);
    name += (name.empty() ? "" : " ") + (found == words.end() ? word : found->second);
    start = end + 1;
  }
  return name;
}

/// As the name of a field, which begins with a capital where it is a word.
std::string title_of_key(const std::string& key) {
  std::string name = name_of_key(key);
  if (name[0] >= 'a' && name[0] <= 'z' && !name.starts_with("cu")) name[0] -= 'a' - 'A';
  return name;
}

std::string value_text(const ordered_json& value) {
  if (value.is_null()) return not_measured;
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_number()) return quantity(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
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

/// Keys of a row whose values are words.
bool is_word(const std::string& key) {
  constexpr std::array<std::string_view, 11> words{"kind",      "tool",   "dataset",     "format",
                                                   "codec",     "recipe", "network",     "device",
                                                   "precision", "cache",  "gpu_throttle"};
  return key == "digest" || std::ranges::find(words, key) != words.end();
}

/// What a reader looks for first, then the other keys of a row.
std::vector<std::string> row_keys(const ordered_json& row) {
  std::vector<std::string> keys{"kind",         "format", "codec",   "dataset",
                                "network",      "device", "threads", "images_per_second",
                                "stall_percent"};
  for (const auto& [key, value] : row.items()) {
    if (key == "schema" || key == "environment") continue;
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::string joined(const std::vector<std::string>& values) {
  if (values.size() > max_values) {
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
    fields.emplace_back(title_of_key(key), std::move(text));
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
  Table table{.title = "Every row", .note = "", .columns = {}, .rows = {}};
  std::vector<const Run*> sorted;
  for (const Run& run : runs) sorted.push_back(&run);
  const auto order = [](const Run& run) {
    const bool loads = !is_trainer_alone(run.kind);
    return std::tuple(loads, run.kind == delivered_kind, run.network.value_or(""), run.tool,
                      run.dataset, run.format, run.codec, run.cache, run.threads.value_or(0));
  };
  std::ranges::stable_sort(sorted, std::less<>(), [&](const Run* run) { return order(*run); });
  for (const Run* run : sorted) {
    Table::Row row;
    const bool first = table.columns.empty();
    const auto add = [&](const std::string& name, const std::string& cell, Table::Align align) {
      if (first) table.columns.push_back({name, align});
      row.cells.push_back(cell);
    };
    const auto values = ordered_json::parse(to_json_line(*run));
    for (const std::string& key : row_keys(values)) {
      if (key == "repeats") {
        const auto [low, high] = std::ranges::minmax(run->repeats);
        add("lowest", quantity(low), Table::Align::right);
        add("highest", quantity(high), Table::Align::right);
        add("repeats", std::to_string(run->repeats.size()), Table::Align::right);
        continue;
      }
      // Demand is of a trainer: what its batches were read from does not matter.
      const bool beside = is_trainer_alone(run->kind) && (key == "format" || key == "codec");
      std::string cell = beside ? not_measured : value_text(values.at(key));
      if (key == "digest") cell = cell.substr(0, 12);
      add(name_of_key(key), cell, is_word(key) ? Table::Align::left : Table::Align::right);
    }
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(std::move(table));
}

}  // namespace feedrate::tools
