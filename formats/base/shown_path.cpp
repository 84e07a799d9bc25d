#include "formats/base/shown_path.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "formats/base/fork_mutex.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

struct Names {
  ForkMutex mutex;
  std::map<std::string, std::string> of_directories;
  std::atomic<std::size_t> count{0};
};

// Never destroyed: threads may still report while the process ends.
Names& names() {
  static auto* const all = new Names;
  return *all;
}

}  // namespace

ShownAs::ShownAs(std::filesystem::path directory, std::string text)
    : directory_(std::move(directory)) {
  const std::lock_guard lock(names().mutex);
  names().of_directories[directory_.string()] = std::move(text);
  names().count.store(names().of_directories.size(), std::memory_order_release);
}

ShownAs::~ShownAs() {
  const std::lock_guard lock(names().mutex);
  names().of_directories.erase(directory_.string());
  names().count.store(names().of_directories.size(), std::memory_order_release);
}

std::string shown_path(const std::filesystem::path& path) {
  const std::string text = without_controls(path.native());
  if (names().count.load(std::memory_order_acquire) == 0) return text;
  const std::lock_guard lock(names().mutex);
  for (const auto& [directory, name] : names().of_directories) {
    if (!text.starts_with(directory)) continue;
    const std::string below = text.substr(directory.size());
    if (below.starts_with('/')) return name + below.substr(1);
    if (below.empty() || below.starts_with('?')) return name + below;  // what a path wishes for
  }
  return text;
}

}  // namespace feedrate::formats
