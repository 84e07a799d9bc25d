// How much overhead does the loader add? Small raw images are the hardest case: nothing hides the
// cost of distributing work and handing batches over.
//
//   bench_loader [counters] [PATH[,RECIPE[,BATCH]] …]     RECIPE none, BATCH 64
//
// reads the dataset at each PATH, or without one raw images of MNIST's and CIFAR's size in memory.
// With `counters` it measures what the loader's counters and clocks cost instead: a loader with
// them and one without take turns of milliseconds, and both are made anew in every round.
//
// The kernel is the reference: the same order, reading, decoding, recipe and consumer in plain
// threads that share nothing: no ring, no order between batches, no handing over.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "formats/base/statistics.h"
#include "formats/base/text.h"
#include "loader/drive.h"
#include "loader/order/order.h"
#include "loader/pixels/render.h"
#include "tests/support/memory_dataset.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr double seconds_each = 0.5;
constexpr int repeats = 5;
constexpr int rounds = 21;  // of counters
constexpr int turns = 16;   // of each loader in a round
constexpr double turn_seconds = 0.02;

struct Task {
  const Dataset& dataset;
  const Recipe& recipe;
  std::uint32_t batch;
};

struct Rates {
  std::vector<double> a_second;
  std::vector<double> a_cpu_second;  // not affected by other processes that take the cores
};

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void add_loader_rates(const Task& task, unsigned threads, Rates& rates) {
  Loader loader(task.dataset, task.recipe, {.threads = threads, .batch = task.batch, .epochs = 0});
  const double cpu = cpu_now();
  const DriveResult result = drive(loader, {.seconds = seconds_each});
  rates.a_second.push_back(result.images_per_second().value());
  rates.a_cpu_second.push_back(static_cast<double>(result.images) / (cpu_now() - cpu));
}

// Does all the work for one image, in memory of its own.
class Maker {
 public:
  explicit Maker(const Task& task)
      : task_(task), shape_(task.recipe.shape(task.dataset.info().shape)) {}

  void make(std::uint64_t epoch, std::uint64_t index, MutableBytes seat) {
    const Sample sample = task_.dataset.read(index, scratch_);
    const View view = task_.recipe.view(sample.shape, SampleRandom(0, epoch, index));
    if (sample.shape == shape_ && shows_all(view, sample.shape)) {
      decode(sample, seat);
      return;
    }
    const Rect part = needed_part(view, sample.shape);
    PixelRows rows;
    if (part.height > 0 && part.width > 0) rows = decode_part(sample, part, decoded_);
    renderer_.render(view, sample.shape, rows, shape_.channels, seat);
  }

 private:
  const Task& task_;
  const Shape shape_;
  Scratch scratch_;
  Buffer decoded_;
  Renderer renderer_;
};

struct Made {
  double images = 0;
  double seconds = 0;
};

// Runs one thread until the time is up, to the end of a batch.
Made kernel(const Task& task, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t size = task.dataset.size();
  const std::size_t bytes = task.recipe.shape(task.dataset.info().shape).bytes();
  Buffer slot(bytes * task.batch);
  Maker maker(task);
  volatile unsigned sink = 0;
  std::uint64_t images = 0;
  const auto start = Clock::now();
  for (std::uint64_t epoch = 0;; ++epoch) {
    const Order order(size, seed, epoch, true);
    for (std::uint64_t at = 0; at < size; at += task.batch) {
      const std::uint64_t count = std::min<std::uint64_t>(task.batch, size - at);
      for (std::uint64_t i = 0; i < count; ++i) {
        maker.make(epoch, order.index(at + i), {slot.data() + i * bytes, bytes});
      }
      unsigned sum = 0;
      for (std::size_t i = 0; i < count * bytes; i += 64) {
        sum += std::to_integer<unsigned>(slot[i]);
      }
      sink = sink + sum;
      images += count;
      const std::chrono::duration<double> seconds = Clock::now() - start;
      if (seconds.count() >= seconds_each) return {static_cast<double>(images), seconds.count()};
    }
  }
}

// So that the first measurement does not pay for mapping pages.
void read_once(const Dataset& dataset) {
  Scratch scratch;
  volatile unsigned sink = 0;
  for (std::uint64_t i = 0; i < dataset.size(); ++i) {
    const Bytes bytes = dataset.read(i, scratch).bytes;
    for (std::size_t at = 0; at < bytes.size(); at += 4096) {
      sink = sink + std::to_integer<unsigned>(bytes[at]);
    }
  }
}

void add_kernel_rates(const Task& task, unsigned threads, Rates& rates) {
  std::vector<Made> each(threads);
  const double cpu = cpu_now();
  {
    std::vector<std::jthread> kernels;
    for (unsigned i = 0; i < threads; ++i) {
      kernels.emplace_back([&, i] { each[i] = kernel(task, i); });
    }
  }
  const double cpu_seconds = cpu_now() - cpu;
  double images = 0, a_second = 0;
  for (const Made& made : each) {
    images += made.images;
    a_second += made.images / made.seconds;
  }
  rates.a_second.push_back(a_second);
  rates.a_cpu_second.push_back(images / cpu_seconds);
}

std::vector<std::string> parts_of(std::string_view word) {
  std::vector<std::string> parts(1);
  for (const char c : word) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void measure(const std::string& name, const Task& task) {
  read_once(task.dataset);
  // In turns, so that other processes disturb all alike.
  Rates loader, one, two;
  for (int i = 0; i < repeats; ++i) {
    add_loader_rates(task, 2, loader);
    add_kernel_rates(task, 1, one);
    add_kernel_rates(task, 2, two);
  }
  const double ours = median(loader.a_second);
  fmt::print("{:<40} {:>9.0f} {:>5.0f} % {:>9.0f} {:>9.0f} {:>6.2f} {:>6.2f}\n", name, ours,
             100 * relative_spread(loader.a_second), median(one.a_second), median(two.a_second),
             ours / median(two.a_second), median(loader.a_cpu_second) / median(two.a_cpu_second));
}

struct Turns {
  double images = 0, seconds = 0, cpu_seconds = 0;
};

// Takes batches for one turn, and touches them as an upload would.
void take(Loader& loader, Turns& sum) {
  using Clock = std::chrono::steady_clock;
  volatile unsigned sink = 0;
  const double cpu = cpu_now();
  const auto start = Clock::now();
  std::chrono::duration<double> seconds{};
  while (seconds.count() < turn_seconds) {
    for (int i = 0; i < 4; ++i) {
      const Batch& batch = *loader.next();
      for (std::size_t at = 0; at < batch.pixels.size(); at += 64) sink = sink + batch.pixels[at];
      sum.images += batch.count;
    }
    seconds = Clock::now() - start;
  }
  sum.seconds += seconds.count();
  sum.cpu_seconds += cpu_now() - cpu;
}

// While one loader works, the other's ring is full and its threads sleep, so that other processes
// and drift affect both alike. The placement of a loader's memory matters as much, so every round
// makes new loaders.
void measure_counters(const std::string& name, const Task& task) {
  read_once(task.dataset);
  std::vector<double> with_rates, without_rates, by_clock, by_cpu;  // percent
  for (int round = 0; round < rounds; ++round) {
    const auto make = [&](bool counts) {
      return std::make_unique<Loader>(
          task.dataset, task.recipe,
          LoaderOptions{
              .threads = 2, .batch = task.batch, .epochs = 0, .diagnosis = {.counts = counts}});
    };
    const bool first = round % 2 == 0;
    const auto one = make(first), other = make(!first);
    Turns warmup, of_one, of_other;
    take(*one, warmup);
    take(*other, warmup);
    for (int turn = 0; turn < turns; ++turn) {
      if (turn % 2 == 0) take(*one, of_one);
      take(*other, of_other);
      if (turn % 2 != 0) take(*one, of_one);
    }
    const Turns &with = first ? of_one : of_other, &without = first ? of_other : of_one;
    with_rates.push_back(with.images / with.seconds);
    without_rates.push_back(without.images / without.seconds);
    by_clock.push_back(100 * (1 - with_rates.back() / without_rates.back()));
    const double cpu = with.cpu_seconds / with.images;
    by_cpu.push_back(100 * (1 - without.cpu_seconds / without.images / cpu));
  }
  const auto quartiles = [](std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return fmt::format("{:>6.2f} % ({:.2f} to {:.2f})", all[all.size() / 2], all[all.size() / 4],
                       all[all.size() * 3 / 4]);
  };
  fmt::print("{:<40} {:>9.0f} {:>9.0f} {} {}\n", name, median(with_rates), median(without_rates),
             quartiles(by_clock), quartiles(by_cpu));
}

void run(std::vector<std::string_view> words) {
  auto* measured = measure;
  if (!words.empty() && words.front() == "counters") {
    words.erase(words.begin());
    measured = measure_counters;
    fmt::print(
        "images/s with the loader's counters and without, medians of {} rounds; their cost by\n"
        "clock and by CPU time: the median of the rounds and the quartiles\n",
        rounds);
  } else {
    fmt::print(
        "images/s, medians of {}; ratio of the loader to two kernels, by clock and by CPU time\n"
        "{:<40} {:>9} {:>7} {:>9} {:>9} {:>6} {:>6}\n",
        repeats, "dataset, recipe, batch", "2 threads", "spread", "1 kernel", "2 kernels", "ratio",
        "CPU");
  }
  if (words.empty()) {
    const testing::MemoryDataset digits(60000), objects(50000, {32, 32, 3});
    measured("memory, none, 64", {digits, recipe("none"), 64});
    measured("memory, cifar-train, 128", {objects, recipe("cifar-train"), 128});
  }
  for (const std::string_view word : words) {
    const auto parts = parts_of(word);
    const auto dataset = open_dataset(parts[0]);
    const Recipe& asked = recipe(parts.size() > 1 ? parts[1] : std::string("none"));
    const auto batch = parts.size() > 2 ? parse_number<std::uint32_t>(parts[2]) : 64;
    if (!batch || *batch == 0) throw Error(join("'", parts[2], "' is not a batch size"));
    measured(join(dataset->info().path.filename().string(), " (", dataset->info().format, " × ",
                  dataset->info().codec, "), ", asked.name(), ", ", *batch),
             {*dataset, asked, *batch});
  }
}

}  // namespace
}  // namespace feedrate::loader

int main(int count, char** words) {
  try {
    feedrate::loader::run({words + 1, words + count});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_loader: {}\n", error.what());
    return 1;
  }
}
