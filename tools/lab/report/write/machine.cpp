#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/console/text.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;

constexpr std::size_t max_values = 4;  // of a field; more are counted instead of listed

/// "build_type" → "Build type"
std::string label_of(const std::string& key) {
  static const std::map<std::string, std::string> labels{
      {"cpu", "Processor"}, {"memory_mib", "Memory MiB"}, {"os", "System"},
      {"gpu", "GPU"},       {"gpu_driver", "GPU driver"}, {"cuda", "CUDA"},
      {"cudnn", "cuDNN"},   {"time", "Measured"}};
  if (const auto found = labels.find(key); found != labels.end()) return found->second;
  std::string label = key;
  std::ranges::replace(label, '_', ' ');
  if (label[0] >= 'a' && label[0] <= 'z') label[0] -= 'a' - 'A';
  return label;
}

std::string value_text(const ordered_json& value) {
  if (value.is_null() || value == "") return not_measured;
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add_once(std::vector<std::string>& values, std::string value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
}

std::string joined(const std::vector<std::string>& values) {
  if (values.size() > max_values) {
    return fmt::format("{} and {} others", values.front(), values.size() - 1);
  }
  return fmt::format("{}", fmt::join(values, "; "));
}

}  // namespace

Fields machine_fields(const Report& report) {
  std::vector<std::string> keys, images;
  std::map<std::string, std::vector<std::string>> values;
  for (const Row& row : report.rows) {
    const auto environment = ordered_json::parse(to_json_line(row)).at("environment");
    for (const auto& [key, value] : environment.items()) {
      add_once(keys, key);
      add_once(values[key], value_text(value));
    }
  }
  for (const Study& study : report.studies) {
    add_once(images, fmt::format("{}{}digest {:.16}…", study.dataset,
                                 study.dataset.empty() ? "" : ", ", study.digest));
  }
  const auto [first, last] = std::ranges::minmax(values["time"]);
  values["time"] = {first == last ? first : first + " to " + last};
  Fields fields;
  for (const std::string& key : keys) {
    if (key != "command") fields.emplace_back(label_of(key), joined(values[key]));
  }
  fields.emplace_back("Images", joined(images));
  fields.emplace_back("Command", joined(values["command"]));
  return fields;
}

}  // namespace feedrate::tools
