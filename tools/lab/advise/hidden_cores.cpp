#include "tools/lab/advise/hidden_cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <string>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "tools/console/advised_error.h"
#include "tools/console/text.h"
#include "tools/lab/measure/proc.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

/// The allowed processors of each core.
std::vector<std::vector<int>> cores_of(const cpu_set_t& allowed) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<int>> cores;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &allowed)) continue;
    const std::string name = std::to_string(number);
    const std::string siblings =
        text_of("/sys/devices/system/cpu/cpu" + name + "/topology/thread_siblings_list")
            .value_or(name);
    const auto [place, is_new] = places.emplace(siblings, cores.size());
    if (is_new) cores.emplace_back();
    cores[place->second].push_back(number);
  }
  return cores;
}

void run_all_threads_on(const cpu_set_t& set) {
  std::error_code gone;
  for (const auto& task : fs::directory_iterator("/proc/self/task", gone)) {
    const std::string name = task.path().filename().string();
    pid_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    sched_setaffinity(number, sizeof set, &set);  // a thread that has ended needs none
  }
}

}  // namespace

std::vector<int> remaining(const std::vector<std::vector<int>>& cores, unsigned usable) {
  std::vector<int> found;
  for (const std::vector<int>& core : cores) {
    for (const int processor : core) {
      if (found.size() < usable) found.push_back(processor);
    }
  }
  return found;
}

struct HiddenCores::Before {
  cpu_set_t set{};
};

HiddenCores::HiddenCores(unsigned seen) {
  auto before = std::make_unique<Before>();
  if (seen == 0 || seen >= usable_cores()) return;
  if (sched_getaffinity(0, sizeof before->set, &before->set) != 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : remaining(cores_of(before->set), seen)) CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return;
  run_all_threads_on(set);
  before_ = std::move(before);
  seen_ = seen;
}

HiddenCores::~HiddenCores() {
  if (before_) run_all_threads_on(before_->set);
}

std::unique_ptr<HiddenCores> hide_all_but(unsigned cores) {
  const unsigned usable = usable_cores();
  if (cores > usable) {
    throw Misused(
        fmt::format("cores: {} are asked for, {} can be used", cores, counted(usable, "core")));
  }
  if (cores == 0 || cores == usable) return nullptr;
  auto hidden = std::make_unique<HiddenCores>(cores);
  if (hidden->seen() != cores) throw Error("cores: the system lets none be hidden");
  return hidden;
}

}  // namespace feedrate::tools
