#pragma once
// The machine and the build of a measurement: what a reader needs to judge or repeat it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace feedrate::tools {

struct Environment {
  std::string cpu;               // processor_name()
  unsigned cores = 0;            // usable by this process
  unsigned cores_present = 0;    // online in the machine
  std::optional<double> quota;   // processor time granted by control groups, in cores
  std::uint64_t memory_mib = 0;  // of the machine
  std::string os;                // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;            // "Linux 6.1.0"
  std::string compiler;
  std::string build_type;
  std::string flags;
  std::string commit;
  std::string version;
  std::string libraries;           // those that decide the speed, with their versions
  std::optional<std::string> gpu;  // absent: no GPU, or its driver does not answer
  std::optional<std::string> gpu_driver;
  std::optional<std::string> cuda;   // the runtime's version; absent without the CUDA plug-in
  std::optional<std::string> cudnn;  // version
  // Where the dataset lies; absent when unknown, or when there is no dataset.
  std::optional<std::string> file_system;    // "ext4"
  std::optional<std::string> mount_options;  // "rw,relatime"
  std::optional<std::string> disk;           // model, or else the device's name
  std::optional<bool> disk_rotational;       // as the driver reports it
  std::string command;                       // the command line of the measuring process
  std::string time;                          // UTC, ISO 8601
};

/// The current environment of this process, with the storage of `dataset`. `command` is kept as
/// given.
Environment describe_environment(std::string command, const std::filesystem::path& dataset = {});

/// What a /proc/cpuinfo says of the first processor. ARM's kernels give numbers instead of a name:
/// "ARM 0x41, part 0xd0c" is a Neoverse N1.
std::string processor_name(const char* cpuinfo);

/// Physical memory of the machine, in MiB.
std::uint64_t machine_memory_mib();

/// The command line of this process, quoted for a shell.
std::string command_line();

}  // namespace feedrate::tools
