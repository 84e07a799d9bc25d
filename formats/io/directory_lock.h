#pragma once
// The lock of the process that writes a directory, on local and on network file systems.

#include <filesystem>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::formats {

/// Another process holds the lock.
class BeingWritten : public Error {
 public:
  using Error::Error;
};

/// An exclusive lock on a directory, held until it is destroyed or the process ends. Where
/// directories cannot be locked (NFS), it is on the file `<directory>.lock`, which its holder
/// removes. One thread.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  /// Throws BeingWritten while another process holds it, and Error where the file system has no
  /// locks.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept = default;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;

  /// The open directory.
  const Descriptor& directory() const { return directory_; }

 private:
  void lock_file(const std::filesystem::path& directory);

  Descriptor directory_;
  std::filesystem::path file_path_;  // empty: the directory itself is locked
  Descriptor file_;
};

/// Whether a process holds the lock of this directory, which exists. Throws Error where the file
/// system has no locks.
bool is_being_written(const std::filesystem::path& directory);

}  // namespace feedrate::formats
