#pragma once
// The machine and the build behind a measurement: what a reader needs to judge a row or repeat it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace feedrate::tools {

struct Environment {
  std::string cpu;               // model name
  unsigned cores = 0;            // that this process may use
  unsigned cores_present = 0;    // of the machine
  std::optional<double> quota;   // of processor time, in cores, that control groups grant
  std::uint64_t memory_mib = 0;  // of the machine
  std::string os;                // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;            // "Linux 6.1.0"
  std::string compiler;
  std::string build_type;
  std::string flags;
  std::string commit;
  std::string version;
  std::string libraries;           // those that decide the speed, with the versions that run
  std::optional<std::string> gpu;  // absent: none, or its driver cannot be asked
  std::optional<std::string> gpu_driver;
  std::optional<std::string> cuda;   // the runtime's version; absent without the CUDA plug-in
  std::optional<std::string> cudnn;  // its version
  // Of the dataset; absent where the system does not tell, or where there is no dataset.
  std::optional<std::string> file_system;    // "ext4"
  std::optional<std::string> mount_options;  // "rw,relatime"
  std::optional<std::string> disk;           // model, or the system's name for it
  std::optional<bool> disk_rotational;       // as its driver says
  std::string command;                       // the command line that measured
  std::string time;                          // UTC, ISO 8601
};

/// The environment of this process, now, with what `dataset` lies on. `command` is kept as given.
Environment describe_environment(std::string command, const std::filesystem::path& dataset = {});

/// Memory of the machine.
std::uint64_t machine_memory_mib();

/// The command line of this process, as one would type it.
std::string command_line();

}  // namespace feedrate::tools
