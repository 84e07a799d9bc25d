#include "tools/lab/advise/host.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/random.h"
#include "formats/base/stopwatch.h"
#include "formats/io/file.h"
#include "tools/lab/jobs/devices.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// Of what O_DIRECT reads: no file system asks for more.
constexpr std::size_t alignment = 4096;
constexpr std::uint64_t max_block = std::uint64_t{4} << 20;
constexpr std::size_t max_files = 64;  // that are read, of a folder of images
constexpr unsigned readers = 16;       // the hints of a loader have about as many reads under way

struct Opened {
  Descriptor file;
  std::uint64_t size = 0;
};

/// Files to be read past the page cache; none where that cannot be done.
std::vector<Opened> open_past_cache(std::span<const fs::path> files) {
  std::vector<Opened> opened;
  const std::size_t step = std::max<std::size_t>(1, files.size() / max_files);
  for (std::size_t i = 0; i < files.size(); i += step) {
    std::error_code failed;
    const std::uint64_t size = fs::file_size(files[i], failed);
    if (failed || size == 0) continue;
    const int number = ::open(files[i].c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (number < 0) return {};
    opened.push_back({Descriptor(number), size});
  }
  return opened;
}

}  // namespace

std::optional<double> storage_rate(std::span<const fs::path> files, std::uint64_t block,
                                   double seconds) {
  const std::vector<Opened> opened = open_past_cache(files);
  if (opened.empty()) return std::nullopt;
  block = round_up(std::clamp<std::uint64_t>(block, 1, max_block), alignment);
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<bool> refused = false;
  const Stopwatch stopwatch;
  const auto read = [&](unsigned reader) {
    const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(alignment, block),
                                                             &std::free);
    for (std::uint64_t i = 0; buffer && !refused && stopwatch.seconds() < seconds; ++i) {
      const std::uint64_t random = random_bits(reader, i);
      const Opened& from = opened[random % opened.size()];
      const std::uint64_t blocks = std::max<std::uint64_t>(1, from.size / alignment);
      const auto place = static_cast<off_t>((random >> 20) % blocks * alignment);
      const ssize_t got = ::pread(from.file.number(), buffer.get(), block, place);
      if (got < 0) refused = true;
      if (got > 0) bytes += static_cast<std::uint64_t>(got);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned reader = 0; reader < readers; ++reader) threads.emplace_back(read, reader);
  for (std::thread& thread : threads) thread.join();
  if (refused || bytes == 0) return std::nullopt;
  return static_cast<double>(bytes) / stopwatch.seconds();
}

void measure_memory(Host& host) {
  const unsigned cores = usable_cores();
  try {
    const trainer::Backend& cpu = usable_backend("cpu");
    const double all = cpu.measure_roof(cores, "fp32").bytes;
    const double one = cores > 1 ? cpu.measure_roof(1, "fp32").bytes : 0;
    if (all <= 0) return;
    host.memory = all;
    // Where each core copies nearly as much beside the others as alone, memory gives more.
    constexpr double enough = 0.75;
    host.memory_saturated = all < enough * cores * one;
  } catch (const Error&) {  // a package without it
  }
}

}  // namespace feedrate::tools
