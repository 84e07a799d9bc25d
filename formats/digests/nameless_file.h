#pragma once
// A file for what does not fit in memory, which no one else sees.

#include <cstdint>
#include <filesystem>

#include "formats/io/file.h"

namespace feedrate::formats {

/// A file in a directory, without a name: it is gone once it is closed, however its process ends.
/// One thread. Throws Error naming the directory.
class NamelessFile {
 public:
  explicit NamelessFile(const std::filesystem::path& directory);

  std::uint64_t size() const { return size_; }
  void append(Bytes bytes);
  /// Fills `into` from the byte `at` on; all of it has been written.
  void read(std::uint64_t at, MutableBytes into) const;

 private:
  std::filesystem::path directory_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace feedrate::formats
