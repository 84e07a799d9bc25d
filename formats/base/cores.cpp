#include "formats/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy of control groups that limits processor time.
struct Hierarchy {
  bool second = false;  // version 2
  fs::path mounted;     // where its files are
  fs::path top;         // the group that is mounted there
};

std::vector<std::string> words_of(const std::string& line, char separator) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

bool names_cpu(const std::string& list) {
  const std::vector<std::string> words = words_of(list, ',');
  return std::ranges::find(words, "cpu") != words.end();
}

// "30 23 0:26 /top /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw": after the dash come the
// file system type, the source and the options; the number of fields before it varies.
std::vector<Hierarchy> hierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = words_of(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const bool second = dash[1] == "cgroup2";
    if (!second && (dash[1] != "cgroup" || !names_cpu(dash[3]))) continue;
    found.push_back({second, words[4], words[3]});
  }
  return found;
}

// The group of this process: "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1.
std::optional<fs::path> own_group(const fs::path& root, bool second) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t next = first == std::string::npos ? first : line.find(':', first + 1);
    if (next == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, next - first - 1);
    if (second ? controllers.empty() : names_cpu(controllers)) return line.substr(next + 1);
  }
  return std::nullopt;
}

// "150000 100000": microseconds of processor time in each period of that many microseconds. A quota
// of "max" or below 1 means none.
std::optional<double> cores_of(std::istream&& quota, std::istream&& period) {
  double time = 0, each = 0;
  if (!(quota >> time) || !(period >> each) || time < 1 || each < 1) return std::nullopt;
  return time / each;
}

std::optional<double> quota_of(const fs::path& group, bool second) {
  if (!second) {
    return cores_of(std::ifstream(group / "cpu.cfs_quota_us"),
                    std::ifstream(group / "cpu.cfs_period_us"));
  }
  std::ifstream file(group / "cpu.max");
  std::string quota, period;
  file >> quota >> period;
  return cores_of(std::istringstream(quota), std::istringstream(period));
}

}  // namespace

std::optional<double> quota_cores(const fs::path& root) {
  std::optional<double> least;
  for (const Hierarchy& hierarchy : hierarchies(root)) {
    const std::optional<fs::path> group = own_group(root, hierarchy.second);
    if (!group) continue;
    // A group outside of the mounted one cannot be seen: the mounted one stands for it.
    fs::path below = group->lexically_relative(hierarchy.top);
    if (below.empty() || *below.begin() == "..") below = ".";
    const fs::path mounted = root / hierarchy.mounted.relative_path();
    for (;; below = below.parent_path()) {
      const std::optional<double> quota = quota_of(mounted / below, hierarchy.second);
      if (quota) least = std::min(*quota, least.value_or(*quota));
      if (below.empty() || below == ".") break;
    }
  }
  return least;
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  unsigned cores = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = static_cast<unsigned>(CPU_COUNT(&set));
  if (const std::optional<double> quota = quota_cores(); quota && *quota < cores) {
    cores = static_cast<unsigned>(std::ceil(*quota));
  }
  return std::max(1U, cores);
}

}  // namespace feedrate::formats
