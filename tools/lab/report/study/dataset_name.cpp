#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {
namespace {

// Folder names that do not say which dataset they hold.
constexpr std::array<std::string_view, 12> generic_names{"/",    "",        ".",          "..",
                                                         "data", "dataset", "datasets",   "train",
                                                         "val",  "valid",   "validation", "test"};

/// The folders of the path, from the outermost, that may say what the images are: neither generic names, nor those
/// of the format and codec.
std::vector<std::string> descriptive_folders(const Row& row) {
  std::vector<std::string> folders;
  for (const std::filesystem::path& part : std::filesystem::path(row.dataset)) {
    const std::string name = part.string();
    const bool is_generic = std::ranges::find(generic_names, name) != generic_names.end();
    if (!is_generic && name != row.format && name != row.codec &&
        name != row.format + "-" + row.codec) {
      folders.push_back(name);
    }
  }
  return folders;
}

struct Folders {
  std::vector<std::string> of_all;  // in which every dataset lies, from the outermost
  std::set<std::string> of_any;
};

}  // namespace

std::map<std::string, std::string> dataset_names(const std::vector<Row>& rows) {
  std::map<std::string, Folders> by_digest;
  for (const Row& row : rows) {
    const std::vector<std::string> own = descriptive_folders(row);
    const auto [place, is_new] = by_digest.try_emplace(row.digest);
    Folders& folders = place->second;
    if (is_new) folders.of_all = own;
    std::erase_if(folders.of_all,
                  [&](const std::string& one) { return std::ranges::find(own, one) == own.end(); });
    folders.of_any.insert(own.begin(), own.end());
  }
  std::map<std::string, std::string> names;
  for (const auto& [digest, folders] : by_digest) {
    std::string& name = names[digest] = by_digest.size() > 1 ? digest.substr(0, 8) : "";
    for (const std::string& one : folders.of_all) {  // the last, which is the innermost
      const bool is_own = std::ranges::none_of(by_digest, [&](const auto& other) {
        return other.first != digest && other.second.of_any.contains(one);
      });
      if (is_own) name = one;
    }
  }
  return names;
}

}  // namespace feedrate::tools
