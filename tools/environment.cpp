#include "tools/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string_view>

#include "formats/cores.h"
#include "tools/build_info.h"
#include "tools/nvml.h"

namespace feedrate {
namespace {

/// The value of the first line of `file` that starts with `key`, without separator and quotes.
std::string value_of(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const auto start = line.find_first_not_of(" \t:=\"", key.size());
    const auto end = line.find_last_not_of(" \t\"");
    return start == std::string::npos ? "" : line.substr(start, end - start + 1);
  }
  return "unknown";
}

}  // namespace

std::string command_line() {
  std::ifstream stream("/proc/self/cmdline");
  std::string text;
  for (std::string word; std::getline(stream, word, '\0');) {
    if (text.empty()) {
      text = "feedrate";
      continue;
    }
    const bool plain = word.find_first_of(" \t\n'\"\\$&|;<>()*?`#~") == std::string::npos;
    text += plain && !word.empty() ? fmt::format(" {}", word) : fmt::format(" '{}'", word);
  }
  return text;
}

Environment describe_environment(std::string command) {
  const BuildInfo& build = build_info();
  utsname system{};
  uname(&system);
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {
      .cpu = value_of("/proc/cpuinfo", "model name"),
      .cores = usable_cores(),
      .memory_mib = pages * page_bytes >> 20,
      .os = value_of("/etc/os-release", "PRETTY_NAME"),
      .kernel = fmt::format("{} {}", system.sysname, system.release),
      .compiler = std::string(build.compiler),
      .build_type = std::string(build.build_type),
      .flags = std::string(build.flags),
      .commit = std::string(build.commit),
      .version = std::string(build.version),
      .gpu = Nvml().name(),
      .command = std::move(command),
      .time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()))};
}

}  // namespace feedrate
