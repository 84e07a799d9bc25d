#pragma once
// What a dataset lies on: the file system and the disk below it, as Linux tells.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// A line of /proc/self/mountinfo.
struct Mount {
  std::string device;   // "254:0"; of no disk when it begins with "0:"
  std::string point;    // where it is mounted
  std::string type;     // "ext4"
  std::string options;  // "rw,relatime"
  std::string source;   // "/dev/vda1", "server:/export"
};

/// The mount on which `path` lies (absolute, without links), by the text of mountinfo; nothing when
/// no line of it is one.
std::optional<Mount> mount_of(std::string_view mountinfo, const std::filesystem::path& path);

struct Disk {
  std::string name;                // its model, or else the system's name for it: "nvme0n1"
  std::optional<bool> rotational;  // as the driver says: a virtual disk often claims to be
};

/// The disk of a block device "254:1", below `sys`: that of which it is a part, or on which alone
/// it is mapped.
std::optional<Disk> disk_of(const std::string& device, const std::filesystem::path& sys = "/sys");

struct Storage {
  std::optional<Mount> mount;
  std::optional<Disk> disk;  // absent: the network's, memory's, of several disks
};

/// Below `path`; nothing where that does not exist.
Storage storage_of(const std::filesystem::path& path);

}  // namespace feedrate::tools
