#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "tools/report/study/study.h"

namespace feedrate::tools {
namespace {

// Folders that say nothing of what lies in them.
constexpr std::array<std::string_view, 12> says_nothing{"/",    "",        ".",          "..",
                                                        "data", "dataset", "datasets",   "train",
                                                        "val",  "valid",   "validation", "test"};

/// The deepest folder of a path that is not named after the format; "" for none.
std::string telling_folder(const Run& run) {
  std::string deepest;
  for (const std::filesystem::path& part : std::filesystem::path(run.dataset)) {
    const std::string name = part.string();
    const bool tells = std::ranges::find(says_nothing, name) == says_nothing.end();
    if (tells && name != run.format && name != run.format + "-" + run.codec) deepest = name;
  }
  return deepest;
}

}  // namespace

std::map<std::string, std::string> dataset_names(const std::vector<Run>& runs) {
  std::map<std::string, std::set<std::string>> folders, digests;  // by digest, by folder
  for (const Run& run : runs) {
    const std::string folder = telling_folder(run);
    folders[run.digest].insert(folder);
    digests[folder].insert(run.digest);
  }
  std::map<std::string, std::string> names;
  for (const auto& [digest, own] : folders) {
    const std::string& folder = *own.begin();
    const bool tells = !folder.empty() && own.size() == 1 && digests[folder].size() == 1;
    const std::string nameless = folders.size() > 1 ? digest.substr(0, 8) : "";
    names[digest] = tells ? folder : nameless;
  }
  return names;
}

}  // namespace feedrate::tools
