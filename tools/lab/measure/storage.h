#pragma once
// What a dataset lies on: the file system and the disk below it, as Linux reports them.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// A line of /proc/self/mountinfo.
struct Mount {
  std::string device;   // "254:0"; "0:…" is no disk
  std::string point;    // where it is mounted
  std::string type;     // "ext4"
  std::string options;  // "rw,relatime"
  std::string source;   // "/dev/vda1", "server:/export"
};

/// The mount that `path` (absolute, without links) lies on, from the text of mountinfo; nothing
/// when none fits.
std::optional<Mount> mount_of(std::string_view mountinfo, const std::filesystem::path& path);

struct Disk {
  std::string name;                // its model, or else the device's name: "nvme0n1"
  std::optional<bool> rotational;  // as the driver reports it; virtual disks often say true
};

/// The disk of a block device ("254:1"), read from `sys`: partitions and mappings onto a single
/// device are followed down to it. Nothing when the device is unknown.
std::optional<Disk> disk_of(const std::string& device, const std::filesystem::path& sys = "/sys");

struct Storage {
  std::optional<Mount> mount;
  std::optional<Disk> disk;  // absent: network, memory or several disks
};

/// The storage that `path` lies on; empty when `path` does not exist.
Storage storage_of(const std::filesystem::path& path);

}  // namespace feedrate::tools
