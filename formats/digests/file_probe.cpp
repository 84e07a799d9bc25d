#include "formats/digests/file_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "formats/digests/fingerprint.h"
#include "formats/io/file.h"
#include "formats/io/late_bytes.h"

namespace feedrate::formats {

std::uint64_t file_probe(const std::filesystem::path& file) {
  constexpr std::uint64_t blocks = 64;
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!opened || fstat(opened.number(), &status) != 0) return 0;
  if (const auto late = late_bytes_of({status.st_dev, status.st_ino})) return late->version();
  std::array<std::byte, 4096> block{};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t last = size - std::min<std::uint64_t>(size, block.size());
  std::uint64_t print = size;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    // Next to each other where the file is no longer than all of them.
    const std::uint64_t at =
        size <= blocks * block.size() ? k * block.size() : last / (blocks - 1) * k;
    const ssize_t held = pread(opened.number(), block.data(), block.size(),
                               static_cast<off_t>(k + 1 == blocks ? std::max(at, last) : at));
    if (held < 0) return 0;
    print = fingerprint(Bytes(block).first(static_cast<std::size_t>(held)), print);
  }
  return print;
}

}  // namespace feedrate::formats
