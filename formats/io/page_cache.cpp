#include "formats/io/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/pages.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Pages examined in one call.
constexpr std::size_t window_pages = std::size_t{1} << 16;

}  // namespace

// Reads lines of /proc/self/maps: "7f00-7f08 r--s 0000 fe:00 123 /data.mdb"
void release_mapped_pages(std::span<const fs::path> files) {
  std::set<std::string> inodes;  // the same number on another device does no harm
  for (const fs::path& path : files) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) inodes.insert(std::to_string(status.st_ino));
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights, offset, device, inode;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode;
    if (rights != "r--s" || !inodes.contains(inode)) continue;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

void evict_from_page_cache(std::span<const fs::path> files) {
  release_mapped_pages(files);  // the kernel keeps pages that a process has mapped
  for (const fs::path& path : files) {
    const Descriptor file = open_to_read(path);
    ::fdatasync(
        file.number());  // pages that are not on disk yet cannot go; where it fails they stay
    ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

InMemory in_memory(std::span<const fs::path> files) {
  const std::size_t page = page_bytes();
  InMemory found;
  std::vector<unsigned char> pages(window_pages);
  for (const fs::path& path : files) {
    const MappedFile map(path);
    const Bytes bytes = map.bytes();
    found.bytes += round_up(bytes.size(), page);
    for (std::size_t at = 0; at < bytes.size(); at += window_pages * page) {
      const std::size_t size = std::min(window_pages * page, bytes.size() - at);
      auto* start = const_cast<std::byte*>(bytes.data() + at);
      if (::mincore(start, size, pages.data()) != 0) fail_errno(path, "mincore", errno);
      const auto count = static_cast<std::ptrdiff_t>((size + page - 1) / page);
      found.resident += page * static_cast<std::size_t>(std::count_if(
                                   pages.begin(), pages.begin() + count,
                                   [](unsigned char state) { return (state & 1U) != 0; }));
    }
  }
  return found;
}

std::uint64_t bytes_from_disk() {
  constexpr std::uint64_t block = 512;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_inblock) * block;
}

}  // namespace feedrate::formats
