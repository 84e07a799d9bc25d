#include "tools/report/study/dataset_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

namespace feedrate::tools {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::string>;

// Folders that say nothing of what lies in them.
constexpr std::array<std::string_view, 12> says_nothing{"/",    "",        ".",          "..",
                                                        "data", "dataset", "datasets",   "train",
                                                        "val",  "valid",   "validation", "test"};

/// A path's folders, without those named after the format.
Parts parts_of(const Run& run) {
  Parts parts;
  for (const fs::path& part : fs::path(run.dataset)) {
    const std::string name = part.string();
    const bool empty = std::ranges::find(says_nothing, name) != says_nothing.end();
    if (!empty && name != run.format && name != run.format + "-" + run.codec) {
      parts.push_back(name);
    }
  }
  return parts;
}

/// What all of these paths begin with.
Parts shared(const std::set<Parts>& paths) {
  Parts common = *paths.begin();
  for (const Parts& path : paths) {
    const auto differs = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
    common.erase(differs.first, common.end());
  }
  return common;
}

}  // namespace

std::map<std::string, std::string> dataset_names(const std::vector<Run>& runs) {
  std::map<std::string, std::set<Parts>> paths;
  for (const Run& run : runs) paths[run.digest].insert(parts_of(run));
  std::map<std::string, std::string> names;
  for (const auto& [digest, own] : paths) {
    const Parts common = shared(own);
    // From the deepest folder up: the first that no other images lie in.
    const auto lies_elsewhere = [&, &mine = digest](const std::string& name) {
      return std::ranges::any_of(paths, [&](const auto& other) {
        return other.first != mine && std::ranges::any_of(other.second, [&](const Parts& path) {
                 return std::ranges::find(path, name) != path.end();
               });
      });
    };
    const auto found = std::find_if_not(common.rbegin(), common.rend(), lies_elsewhere);
    if (found != common.rend()) {
      names[digest] = *found;
    } else {
      names[digest] = paths.size() > 1 ? digest.substr(0, 8) : "";
    }
  }
  return names;
}

}  // namespace feedrate::tools
