#include "tools/lab/measure/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>

#include "formats/base/cores.h"
#include "formats/base/pages.h"
#include "formats/remote/url.h"
#include "tools/console/build_info.h"
#include "tools/console/text.h"
#include "tools/lab/measure/libraries.h"
#include "tools/lab/measure/nvml.h"
#include "tools/lab/measure/storage.h"
#include "trainer/backends/backend.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

/// The value on the first line of `file` that starts with `key`, without separator and quotes;
/// "unknown" when there is no such line.
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

std::optional<std::string> version_of(std::span<const LibraryVersion> libraries,
                                      std::string_view name) {
  const auto found = std::ranges::find(libraries, name, &LibraryVersion::name);
  return found == libraries.end() ? std::nullopt : std::optional(found->version);
}

}  // namespace

std::string processor_name(const char* cpuinfo) {
  const std::string name = value_of(cpuinfo, "model name");
  const std::string implementer = value_of(cpuinfo, "CPU implementer");
  if (name != "unknown" || implementer == "unknown") return name;
  return fmt::format("ARM {}, part {}", implementer, value_of(cpuinfo, "CPU part"));
}

namespace {

// A word of the command line, or the value behind its "=", without a URL's secrets.
std::string without_secrets_of(const std::string& word) {
  const std::size_t value = word.starts_with("--") ? word.find('=') : std::string::npos;
  if (value == std::string::npos) return formats::without_secrets(word);
  return word.substr(0, value + 1) + formats::without_secrets(word.substr(value + 1));
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
    text += fmt::format(" {}", shell_word(without_secrets_of(word)));
  }
  return text;
}

std::uint64_t machine_memory_mib() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return pages * page_bytes() >> 20;
}

Environment describe_environment(std::string command, const std::filesystem::path& dataset) {
  const BuildInfo& build = build_info();
  utsname system{};
  uname(&system);
  const Nvml nvml;
  const std::vector<LibraryVersion> cuda = backend("cuda").libraries();
  Environment found{
      .cpu = processor_name("/proc/cpuinfo"),
      .cores = usable_cores(),
      .cores_present = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))),
      .quota = quota_cores(),
      .memory_mib = machine_memory_mib(),
      .os = value_of("/etc/os-release", "PRETTY_NAME"),
      .kernel = fmt::format("{} {}", system.sysname, system.release),
      .compiler = std::string(build.compiler),
      .build_type = std::string(build.build_type),
      .flags = std::string(build.flags),
      .commit = std::string(build.commit),
      .version = std::string(build.version),
      .libraries = library_versions(),
      .gpu = nvml.name(),
      .gpu_driver = nvml.driver_version(),
      .cuda = version_of(cuda, "CUDA"),
      .cudnn = version_of(cuda, "cuDNN"),
      .file_system = {},
      .mount_options = {},
      .disk = {},
      .disk_rotational = {},
      .command = std::move(command),
      .time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()))};
  const Storage storage = storage_of(dataset);
  if (storage.mount) {
    found.file_system = storage.mount->type;
    found.mount_options = storage.mount->options;
  }
  if (storage.disk) {
    found.disk = storage.disk->name;
    found.disk_rotational = storage.disk->rotational;
  }
  return found;
}

}  // namespace feedrate::tools
