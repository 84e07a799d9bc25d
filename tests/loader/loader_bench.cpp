// How much of the work is the loader's own? Small raw images are the hardest case: nothing hides
// what it costs to hand work out and batches over.
//
//   bench_loader [PATH | images = 60000] [batch = 64] [side = 28]
//
// reads the dataset at PATH, or raw grey images in memory.
//
// The kernel is the same order, read and copy with the same consumer, in plain threads that share
// nothing: no ring, no order between batches, nothing handed over.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

#include "loader/drive.h"
#include "loader/order.h"
#include "tests/support/memory_dataset.h"

namespace feedrate {
namespace {

constexpr double seconds_each = 0.4;
constexpr int repeats = 5;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Rates {
  double a_second = 0;
  double a_cpu_second = 0;  // does not suffer from neighbours that take the cores away
};

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Rates loader_rates(const Dataset& dataset, unsigned threads, std::uint32_t batch) {
  Loader loader(dataset, recipe("none"), {.threads = threads, .batch = batch, .epochs = 0});
  const double cpu = cpu_now();
  const DriveResult result = drive(loader, {.seconds = seconds_each});
  return {result.images_per_second, static_cast<double>(result.images) / (cpu_now() - cpu)};
}

// Images that one thread takes in the time.
std::uint64_t kernel(const Dataset& dataset, std::uint64_t seed, std::uint32_t batch) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds_each);
  const std::size_t bytes = dataset.info().shape.bytes();
  Buffer slot(bytes * batch);
  Scratch scratch;
  volatile unsigned sink = 0;
  std::uint64_t images = 0;
  for (std::uint64_t epoch = 0;; ++epoch) {
    const Order order(dataset.size(), seed, epoch, true);
    for (std::uint64_t at = 0; at + batch <= dataset.size(); at += batch) {
      for (std::uint32_t i = 0; i < batch; ++i) {
        const Sample sample = dataset.read(order.index(at + i), scratch);
        decode(sample, {slot.data() + i * bytes, bytes});
      }
      unsigned sum = 0;
      for (std::size_t i = 0; i < slot.size(); i += 64) sum += std::to_integer<unsigned>(slot[i]);
      sink = sink + sum;
      images += batch;
      if (Clock::now() >= end) return images;
    }
  }
}

Rates kernel_rates(const Dataset& dataset, unsigned threads, std::uint32_t batch) {
  std::vector<std::uint64_t> images(threads);
  const double cpu = cpu_now();
  {
    std::vector<std::jthread> kernels;
    for (unsigned i = 0; i < threads; ++i) {
      kernels.emplace_back([&, i] { images[i] = kernel(dataset, i, batch); });
    }
  }
  const auto all = static_cast<double>(std::accumulate(images.begin(), images.end(), 0UL));
  return {all / seconds_each, all / (cpu_now() - cpu)};
}

int run(const Dataset& dataset, std::uint32_t batch) {
  const DatasetInfo& info = dataset.info();
  fmt::print("{}: {} {} images of {} x {}, batches of {}, median of {}\n", info.format, info.size,
             info.codec, info.shape.height, info.shape.width, batch, repeats);
  for (const unsigned threads : {0U, 1U, 2U}) {
    // Alternately, so that a noisy neighbour disturbs both.
    std::vector<double> loader, loader_cpu, kernels, kernels_cpu;
    for (int i = 0; i < repeats; ++i) {
      const Rates ours = loader_rates(dataset, threads, batch);
      const Rates plain = kernel_rates(dataset, std::max(1U, threads), batch);
      loader.push_back(ours.a_second);
      loader_cpu.push_back(ours.a_cpu_second);
      kernels.push_back(plain.a_second);
      kernels_cpu.push_back(plain.a_cpu_second);
    }
    fmt::print(
        "{} threads: loader {:9.0f} images/s, {} kernel(s) {:9.0f}: {:.2f}; a CPU second {:9.0f} "
        "and {:9.0f}: {:.2f}\n",
        threads, median(loader), std::max(1U, threads), median(kernels),
        median(loader) / median(kernels), median(loader_cpu), median(kernels_cpu),
        median(loader_cpu) / median(kernels_cpu));
  }
  return 0;
}

}  // namespace
}  // namespace feedrate

int main(int count, char** words) {
  const auto number = [&](int at, unsigned otherwise) {
    return count > at ? static_cast<unsigned>(std::strtoul(words[at], nullptr, 10)) : otherwise;
  };
  if (count > 1 && std::filesystem::exists(words[1])) {
    return feedrate::run(*feedrate::open_dataset(words[1]), number(2, 64));
  }
  const unsigned side = number(3, 28);
  const feedrate::testing::MemoryDataset dataset(number(1, 60000), {side, side, 1});
  return feedrate::run(dataset, number(2, 64));
}
