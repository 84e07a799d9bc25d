#pragma once
// Allows one bench at a time on a machine: two would disturb each other's measurements.

#include <filesystem>

#include "formats/io/file.h"

namespace feedrate::tools {

/// Held during its lifetime; the kernel releases it however the process ends.
class MachineLock {
 public:
  /// Throws Error naming the process that holds the lock. The lock file is in `directory`, which
  /// all users of the machine share.
  explicit MachineLock(
      const std::filesystem::path& directory = std::filesystem::temp_directory_path());

 private:
  formats::Descriptor file_;
};

}  // namespace feedrate::tools
