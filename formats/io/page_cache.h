#pragma once
// What of files lies in memory: to measure reading from a disk, and to know that it was one.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace feedrate::formats {

/// Has this process let go of the pages that it has touched in its shared, read-only maps of the
/// files. They stay as they are: touched again they come again, from the system's memory or the
/// file.
void release_mapped_pages(std::span<const std::filesystem::path> files);

/// Has the system forget what it holds of the files: what was written is brought to disk first.
/// What another process has mapped and touched stays. Throws Error naming a file that cannot be
/// opened.
void evict_from_page_cache(std::span<const std::filesystem::path> files);

/// Bytes of files, and how many of them are in memory, in whole pages, as mincore() tells. Linux
/// tells only who owns or may write a file; to others all of it seems to be in memory.
struct InMemory {
  std::uint64_t bytes = 0;
  std::uint64_t resident = 0;
  double share() const {
    return bytes == 0 ? 0 : static_cast<double>(resident) / static_cast<double>(bytes);
  }
};
InMemory in_memory(std::span<const std::filesystem::path> files);

/// Bytes that this process has had read from disks since it began.
std::uint64_t bytes_from_disk();

}  // namespace feedrate::formats
