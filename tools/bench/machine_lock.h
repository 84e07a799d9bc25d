#pragma once
// One bench at a time on a machine: two would measure each other.

#include <filesystem>

#include "formats/io/file.h"

namespace feedrate::tools {

/// Held as long as it lives, and let go of however the process ends.
class MachineLock {
 public:
  /// Throws Error naming the process that holds it. The file that is locked is in `directory`, the
  /// same for every user of the machine.
  explicit MachineLock(
      const std::filesystem::path& directory = std::filesystem::temp_directory_path());

 private:
  formats::Descriptor file_;
};

}  // namespace feedrate::tools
