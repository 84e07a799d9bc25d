#pragma once
// Which parts of files are in memory: to measure reading from disk, and to prove that it was.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace feedrate::formats {

/// Unmaps, from this process's shared read-only maps of the files, the pages that it has touched.
/// The maps stay valid: touched again, pages come from the page cache or the file.
void release_mapped_pages(std::span<const std::filesystem::path> files);

/// Evicts the files from the page cache, after writing changes to disk. Pages that another process
/// has mapped and touched stay. Throws Error naming a file that cannot be opened.
void evict_from_page_cache(std::span<const std::filesystem::path> files);

/// Bytes of files, and how many of them are in memory, in whole pages, according to mincore().
/// Linux reports this only for files that the user owns or may write; others seem to be entirely in
/// memory.
struct InMemory {
  std::uint64_t bytes = 0;
  std::uint64_t resident = 0;
  double share() const {
    return bytes == 0 ? 0 : static_cast<double>(resident) / static_cast<double>(bytes);
  }
};
InMemory in_memory(std::span<const std::filesystem::path> files);

/// Bytes that were read from disks for this process since it started.
std::uint64_t bytes_from_disk();

}  // namespace feedrate::formats
