#include "formats/containers/folder/class_directories.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "formats/base/text.h"
#include "formats/base/utf8.h"

namespace feedrate::formats {
namespace {

using Labels = std::vector<std::int32_t>;

constexpr std::size_t label_digits = 5;

// feedrate.json and others lie beside the classes.
bool is_file_of_ours(std::string_view name) { return name.starts_with("feedrate."); }

template <class LabelOf>
std::optional<Labels> labelled(const std::vector<std::string>& directories,
                               const LabelOf& label_of) {
  Labels labels;
  for (const std::string& directory : directories) {
    const std::optional<std::int32_t> label = label_of(directory);
    if (!label) return std::nullopt;
    labels.push_back(*label);
  }
  return labels;
}

std::optional<Labels> by_name(const std::vector<std::string>& directories,
                              const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::int32_t> known;
  for (const std::string& name : names) {
    known.emplace(name, static_cast<std::int32_t>(known.size()));
  }
  return labelled(directories, [&](const std::string& directory) {
    const auto at = known.find(directory);
    return at == known.end() ? std::nullopt : std::optional(at->second);
  });
}

std::optional<Labels> by_number(const std::vector<std::string>& directories) {
  return labelled(directories, [](const std::string& directory) {
    return directory.size() == label_digits ? parse_number<std::int32_t>(directory) : std::nullopt;
  });
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.size() <= max_folder_name_bytes &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' '; });
}

bool can_be_directories(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), is_plain_name) &&
         // The sidecar cannot hold other names, so they would not tell the label.
         std::all_of(names.begin(), names.end(), is_utf8) &&
         std::none_of(names.begin(), names.end(), is_file_of_ours) &&
         std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) == names.end();
}

std::string numbered_directory(std::int32_t label) {
  return fmt::format("{:0{}}", label, label_digits);
}

std::optional<Labels> labels_of_directories(const std::vector<std::string>& directories,
                                            const std::vector<std::string>& names) {
  if (!names.empty() && can_be_directories(names)) {
    if (auto labels = by_name(directories, names)) return labels;
  }
  if (directories.size() == names.size()) {
    Labels positions(directories.size());
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }
  return by_number(directories);
}

}  // namespace feedrate::formats
