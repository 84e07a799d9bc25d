// How much does reading ahead gain for data on a disk? Reads random records of 112 KB from an LMDB
// that is evicted from the page cache before each measurement.
//
//   bench_cold DIRECTORY [RECORDS]     writes DIRECTORY/cold, 40,000 records (4.5 GB), once
//
// The limit is the rate of the disk with many threads at once. The peers are a single thread that
// touches every page of one record after the other in a plain map: with the system's default
// read-ahead, and with MADV_RANDOM (what liblmdb uses with MDB_NORDAHEAD). The records are raw
// images, so that nothing but the disk is measured.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "formats/base/statistics.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/dataset.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "formats/io/page_cache.h"
#include "formats/io/partial_directory.h"
#include "loader/drive.h"
#include "loader/order/order.h"
#include "loader/order/sample_draws.h"

namespace feedrate::loader {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Shape shape{193, 193, 3};  // 111,747 bytes
// Far more than a disk reads in a second: otherwise read-around would soon load all of it.
constexpr std::uint64_t standard_records = 40'000;
constexpr double seconds_each = 0.6;
constexpr double seconds_of_loader = 1.5;  // it starts empty, with nothing requested
constexpr std::uint64_t repeats = 3;

void make(const fs::path& path, std::uint64_t records) {
  PartialDirectory directory(path);
  const auto writer = container("lmdb").create(directory.path(), {.codec = &raw_codec});
  Buffer pixels(shape.bytes());
  for (std::uint64_t i = 0; i < records; ++i) {
    for (std::size_t at = 0; at + 8 <= pixels.size(); at += 8) {
      const std::uint64_t bits = mix64(i * pixels.size() + at);
      std::memcpy(pixels.data() + at, &bits, sizeof bits);
    }
    Sample sample;
    sample.bytes = pixels;
    sample.codec = &raw_codec;
    sample.shape = shape;
    sample.label = static_cast<std::int32_t>(i % 10);
    writer->add(sample);
  }
  writer->finish(nullptr);
  directory.commit();
}

struct Measured {
  std::vector<double> rates;  // records/s
  double in_memory = 0;       // the largest share of the data before a measurement
};

// Opens the dataset with none of it in memory.
std::unique_ptr<Dataset> open_cold(const fs::path& path, Measured& measured) {
  std::unique_ptr<Dataset> dataset = open_dataset(path);
  const std::vector<fs::path> files = sample_files(*dataset);
  evict_from_page_cache(files);
  measured.in_memory = std::max(measured.in_memory, in_memory(files).share());
  return dataset;
}

void add_plain(const fs::path& path, bool single_pages, std::uint64_t seed, Measured& measured) {
  const auto dataset = open_cold(path, measured);
  const MappedFile map(dataset->info().files.front());
  std::optional<SinglePages> advice;
  if (single_pages) advice.emplace(map.bytes());
  const Order order(dataset->size(), seed, 0, true);
  volatile unsigned sink = 0;
  std::uint64_t records = 0;
  const auto start = Clock::now();
  for (;;) {
    const std::uint64_t offset = dataset->place(order.index(records)).offset;
    const Bytes bytes = map.bytes().subspan(offset, shape.bytes());
    unsigned sum = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 64) {
      sum += std::to_integer<unsigned>(bytes[at]);
    }
    sink = sink + sum;
    const std::chrono::duration<double> seconds = Clock::now() - start;
    if (++records < dataset->size() && seconds.count() < seconds_each) continue;
    measured.rates.push_back(static_cast<double>(records) / seconds.count());
    return;
  }
}

// The limit of the disk: the same records, read by many threads past the page cache.
void add_disk(const fs::path& path, std::uint64_t seed, Measured& measured) {
  constexpr unsigned readers = 16;
  constexpr std::uint64_t block = 4096;
  const std::uint64_t span = (shape.bytes() + 2 * block - 1) / block * block;
  const auto dataset = open_cold(path, measured);
  const fs::path& data = dataset->info().files.front();
  const Descriptor file(::open(data.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!file) throw Error(join(data, ": cannot be read past the page cache"));
  const Order order(dataset->size(), seed, 0, true);
  std::atomic<std::uint64_t> next{0}, records{0};
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < readers; ++i) {
      threads.emplace_back([&] {
        const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(block, span),
                                                                 &std::free);
        while (seconds() < seconds_each) {
          const std::uint64_t position = next.fetch_add(1);
          if (position >= dataset->size()) return;
          const std::uint64_t at = dataset->place(order.index(position)).offset / block * block;
          if (::pread(file.number(), memory.get(), span, static_cast<off_t>(at)) > 0) ++records;
        }
      });
    }
  }
  measured.rates.push_back(static_cast<double>(records.load()) / seconds());
}

void add_loader(const fs::path& path, unsigned io_threads, std::uint64_t seed, Measured& measured) {
  const auto dataset = open_cold(path, measured);
  Loader loader(
      *dataset, recipe("none"),
      {.threads = 2, .batch = 64, .start = {.seed = seed}, .engine = {.io_threads = io_threads}});
  measured.rates.push_back(
      drive(loader, {.seconds = seconds_of_loader}).images_per_second().value());
}

void run(const fs::path& directory, std::uint64_t records) {
  const fs::path path = directory / "cold";
  if (!fs::exists(path)) make(path, records);
  Measured plain, single, disk;
  Measured none_ahead, one_ahead, two_ahead;
  // In turns, so that other processes disturb all alike. A cloud disk has a budget of bytes a
  // second and needs time to recover: the slow peer runs between those that use all of it.
  for (std::uint64_t seed = 0; seed < repeats; ++seed) {
    add_plain(path, true, seed, single);
    add_loader(path, 1, seed, one_ahead);
    add_plain(path, true, seed, single);
    add_loader(path, 2, seed, two_ahead);
  }
  for (std::uint64_t seed = 0; seed < repeats; ++seed) {
    add_disk(path, seed, disk);
    add_plain(path, false, seed, plain);
    add_loader(path, 0, seed, none_ahead);
  }
  fmt::print(
      "records/s of {} bytes, medians of {}; ratio to a plain map with MADV_RANDOM and to the "
      "disk\n",
      shape.bytes(), repeats);
  const auto print = [&](std::string_view name, const Measured& measured) {
    fmt::print("{:<44} {:>8.0f} {:>7.1f} {:>6.2f} {:>6.1f} % in memory before\n", name,
               median(measured.rates), median(measured.rates) / median(single.rates),
               median(measured.rates) / median(disk.rates), 100 * measured.in_memory);
  };
  print("disk, 16 threads past the page cache", disk);
  print("plain map, 1 thread", plain);
  print("plain map, 1 thread, MADV_RANDOM", single);
  print("loader, 2 threads, no thread reads ahead", none_ahead);
  print("loader, 2 threads, 1 thread reads ahead", one_ahead);
  print("loader, 2 threads, 2 threads read ahead", two_ahead);
}

}  // namespace
}  // namespace feedrate::loader

int main(int count, char** words) {
  try {
    const auto records = count > 2 ? feedrate::formats::parse_number<std::uint64_t>(words[2])
                                   : std::optional(feedrate::loader::standard_records);
    if (count < 2 || words[1][0] == '-' || !records || *records == 0) {
      throw feedrate::formats::Error("usage: bench_cold DIRECTORY [RECORDS]");
    }
    feedrate::loader::run(words[1], *records);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cold: {}\n", error.what());
    return 1;
  }
}
