#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {
namespace {

// Folder names that do not say which dataset they hold.
constexpr std::array<std::string_view, 12> generic_names{"/",    "",        ".",          "..",
                                                         "data", "dataset", "datasets",   "train",
                                                         "val",  "valid",   "validation", "test"};

/// The deepest folder of the path with neither a generic name nor the format's; "" when there is
/// none.
std::string descriptive_folder(const Row& row) {
  std::string deepest;
  for (const std::filesystem::path& part : std::filesystem::path(row.dataset)) {
    const std::string name = part.string();
    const bool is_generic = std::ranges::find(generic_names, name) != generic_names.end();
    if (!is_generic && name != row.format && name != row.format + "-" + row.codec) deepest = name;
  }
  return deepest;
}

}  // namespace

std::map<std::string, std::string> dataset_names(const std::vector<Row>& rows) {
  std::map<std::string, std::set<std::string>> folders, digests;  // by digest, by folder
  for (const Row& row : rows) {
    const std::string folder = descriptive_folder(row);
    folders[row.digest].insert(folder);
    digests[folder].insert(row.digest);
  }
  std::map<std::string, std::string> names;
  for (const auto& [digest, candidates] : folders) {
    const std::string& folder = *candidates.begin();
    const bool is_unique = !folder.empty() && candidates.size() == 1 && digests[folder].size() == 1;
    const std::string fallback = folders.size() > 1 ? digest.substr(0, 8) : "";
    names[digest] = is_unique ? folder : fallback;
  }
  return names;
}

}  // namespace feedrate::tools
