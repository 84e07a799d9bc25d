// How much of the work is the loader's own? Small raw images are the hardest case: nothing hides
// what it costs to hand work out and batches over.
//
//   bench_loader [counters] [PATH[,RECIPE[,BATCH]] …]     RECIPE none, BATCH 64
//
// reads the dataset at each PATH, or where none is given raw images of MNIST's and CIFAR's size in
// memory. With `counters` it tells what the loader's counters and clocks cost instead: runs with
// them and without take turns, and each is compared with its neighbour.
//
// The kernel is the same order, read, decode and recipe with the same consumer, in plain threads
// that share nothing: no ring, no order between batches, nothing handed over.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "formats/statistics.h"
#include "formats/text.h"
#include "loader/drive.h"
#include "loader/order.h"
#include "loader/render.h"
#include "tests/support/memory_dataset.h"

namespace feedrate {
namespace {

constexpr double seconds_each = 0.5;
constexpr int repeats = 5;
constexpr int pairs = 15;

struct Task {
  const Dataset& dataset;
  const Recipe& recipe;
  std::uint32_t batch;
};

struct Rates {
  std::vector<double> a_second;
  std::vector<double> a_cpu_second;  // does not suffer from neighbours that take the cores away
};

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

enum class Counters { on, off };

void add_loader_rates(const Task& task, unsigned threads, Counters counters, Rates& rates) {
  Loader loader(
      task.dataset, task.recipe,
      {.threads = threads, .batch = task.batch, .epochs = 0, .counts = counters == Counters::on});
  const double cpu = cpu_now();
  const DriveResult result = drive(loader, {.seconds = seconds_each});
  rates.a_second.push_back(result.images_per_second);
  rates.a_cpu_second.push_back(static_cast<double>(result.images) / (cpu_now() - cpu));
}

// All of one image, with memory of its own.
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

// What one thread makes, to the end of a batch.
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

// So that the first one measured does not pay for pages that the others find mapped.
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
  // Alternately, so that a noisy neighbour disturbs all.
  Rates loader, one, two;
  for (int i = 0; i < repeats; ++i) {
    add_loader_rates(task, 2, Counters::on, loader);
    add_kernel_rates(task, 1, one);
    add_kernel_rates(task, 2, two);
  }
  const auto spread = std::minmax_element(loader.a_second.begin(), loader.a_second.end());
  const double ours = median(loader.a_second);
  fmt::print("{:<40} {:>9.0f} {:>5.0f} % {:>9.0f} {:>9.0f} {:>6.2f} {:>6.2f}\n", name, ours,
             100 * (*spread.second - *spread.first) / ours, median(one.a_second),
             median(two.a_second), ours / median(two.a_second),
             median(loader.a_cpu_second) / median(two.a_cpu_second));
}

// How much slower the first of each pair is, in percent: a quarter of the pairs, half, three
// quarters are below. A neighbour of the machine meets both of a pair, or spoils one.
std::array<double, 3> slower(const std::vector<double>& with, const std::vector<double>& without) {
  std::vector<double> all;
  for (std::size_t i = 0; i < with.size(); ++i) all.push_back(100 * (1 - with[i] / without[i]));
  std::sort(all.begin(), all.end());
  return {all[all.size() / 4], all[all.size() / 2], all[all.size() * 3 / 4]};
}

void measure_counters(const std::string& name, const Task& task) {
  read_once(task.dataset);
  Rates with, without;
  for (int i = 0; i < pairs; ++i) {
    for (const bool first : {true, false}) {
      const bool on = first == (i % 2 == 0);
      add_loader_rates(task, 2, on ? Counters::on : Counters::off, on ? with : without);
    }
  }
  const auto clock = slower(with.a_second, without.a_second);
  const auto cpu = slower(with.a_cpu_second, without.a_cpu_second);
  fmt::print(
      "{:<40} {:>9.0f} {:>9.0f} {:>6.2f} % ({:.2f} to {:.2f}) {:>6.2f} % ({:.2f} to {:.2f})\n",
      name, median(with.a_second), median(without.a_second), clock[1], clock[0], clock[2], cpu[1],
      cpu[0], cpu[2]);
}

void run(std::vector<std::string_view> words) {
  auto* measured = measure;
  if (!words.empty() && words.front() == "counters") {
    words.erase(words.begin());
    measured = measure_counters;
    fmt::print(
        "images/s with the loader's counters and without, medians of {} pairs; how much slower "
        "with "
        "them,\nby clock and by CPU time: the median of the pairs and their quartiles\n",
        pairs);
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
    if (!batch || *batch == 0) throw Error(join("'", parts[2], "' is no batch"));
    measured(join(dataset->info().path.filename().string(), " (", dataset->info().format, " × ",
                  dataset->info().codec, "), ", asked.name(), ", ", *batch),
             {*dataset, asked, *batch});
  }
}

}  // namespace
}  // namespace feedrate

int main(int count, char** words) {
  try {
    feedrate::run({words + 1, words + count});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_loader: {}\n", error.what());
    return 1;
  }
}
