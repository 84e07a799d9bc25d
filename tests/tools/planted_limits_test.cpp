// Bottlenecks that are planted by orders of magnitude must be named, by the report, by `advise` and
// by `train` alike. All that is planted sleeps, so a little load changes nothing: a loader's sleeps
// only get longer, and the device keeps to a schedule. Measurements during which this process had to
// wait for a core are not judged; where too few are left, the test is skipped and says so.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <semaphore>
#include <thread>

#include "tests/support/lateness.h"
#include "tests/support/memory_dataset.h"
#include "tests/tools/rows.h"
#include "tools/lab/advise/prediction.h"
#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::uint32_t batch = 2;
constexpr unsigned warm_up = 10, timed = 16;  // batches
constexpr unsigned threads = 2;

struct Plant {
  Milliseconds read{}, decode{};     // for an image
  Milliseconds upload{}, compute{};  // for a batch
  bool one_core = false;             // which the loader and the trainer take in turns
};

std::binary_semaphore core(1);

void work(const Plant& plant, Milliseconds time) {
  if (plant.one_core) core.acquire();
  std::this_thread::sleep_for(time);
  if (plant.one_core) core.release();
}

class SlowCodec final : public Codec {
 public:
  explicit SlowCodec(const Plant& plant) : Codec("slow", "sleeps"), plant_(plant) {}
  bool knows(Bytes) const override { return false; }
  Shape shape(Bytes) const override { return {2, 2, 1}; }
  void decode(Bytes encoded, Shape, MutableBytes pixels) const override {
    work(plant_, plant_.decode);
    std::ranges::copy(encoded, pixels.begin());
  }
  void encode(const ImageView&, int, Buffer&) const override {}

 private:
  const Plant& plant_;
};

/// An emulated device. Overshooting a sleep does not delay its schedule, waiting for data does.
class Device {
 public:
  explicit Device(const Plant& plant) : plant_(plant) {}
  void start() { start_ = due_ = Clock::now(); }
  void step(bool uploads = true) {
    const Milliseconds time = plant_.compute + (uploads ? plant_.upload : Milliseconds{});
    if (plant_.one_core) {
      work(plant_, time);
      due_ = Clock::now();
    } else {
      due_ += std::chrono::duration_cast<Clock::duration>(time);
      std::this_thread::sleep_until(due_);
    }
  }
  void waited() { due_ = std::max(due_, Clock::now()); }
  double seconds() const { return std::chrono::duration<double>(due_ - start_).count(); }

 private:
  const Plant& plant_;
  Clock::time_point start_, due_;
};

struct Measured {
  double supply = 0, compute = 0, demand = 0, delivered = 0, stall = 0;  // images/s; a share
  LoaderStats alone, together;
};

constexpr double images = timed * batch;

double rate_alone(const Plant& plant, bool uploads) {
  Device device(plant);
  device.start();
  for (unsigned i = 0; i < timed; ++i) device.step(uploads);
  return images / device.seconds();
}

Measured measure(const Plant& plant) {
  const SlowCodec codec(plant);
  const testing::MemoryDataset dataset(1024, {2, 2, 1}, [&](std::uint64_t, Sample& sample) {
    if (plant.read.count() > 0) work(plant, plant.read);
    if (plant.decode.count() > 0) sample.codec = &codec;
  });
  const LoaderOptions options{
      .threads = plant.one_core ? 1 : threads, .batch = batch, .epochs = 0, .engine = {.depth = 8}};
  Measured found;
  found.demand = rate_alone(plant, true);
  found.compute = rate_alone(plant, false);
  {
    Loader loader(dataset, recipe("none"), options);
    for (unsigned i = 0; i < warm_up; ++i) loader.next();
    const Clock::time_point start = Clock::now();
    for (unsigned i = 0; i < timed; ++i) loader.next();
    found.supply = images / std::chrono::duration<double>(Clock::now() - start).count();
    found.alone = loader.stats();
  }
  Loader loader(dataset, recipe("none"), options);
  Device device(plant);
  for (unsigned i = 0; i < warm_up + timed; ++i) {
    if (i == warm_up) device.start();
    if (i == warm_up) found.stall = -loader.stats().wait_seconds;
    const double before = loader.stats().wait_seconds;
    loader.next();
    if (loader.stats().wait_seconds > before) device.waited();
    device.step();
  }
  found.together = loader.stats();
  found.delivered = images / device.seconds();
  found.stall =
      std::clamp((found.stall + found.together.wait_seconds) / device.seconds(), 0.0, 1.0);
  return found;
}

/// As rows of a bench, judged by the report.
Limit reported(const Plant& plant, const Measured& measured) {
  const unsigned workers = plant.one_core ? 1 : threads;
  Row delivered = testing::delivered("lmdb", workers, measured.delivered, 100 * measured.stall);
  const auto per_image = [&](double busy) {
    return 1e6 * busy / static_cast<double>(measured.together.images);
  };
  delivered.read_us = per_image(measured.together.busy_read);
  delivered.decode_us = per_image(measured.together.busy_decode);
  delivered.augment_us = per_image(measured.together.busy_augment);
  if (plant.one_core) delivered.compute_threads = 1;
  Row compute = testing::demand(measured.compute);
  compute.kind = compute_kind;
  std::vector<Row> rows{testing::demand(measured.demand), compute,
                        testing::supply("lmdb", workers, measured.supply), delivered};
  if (plant.one_core) {
    for (Row& row : rows) row.environment.cores = 1;
  }
  return judge(make_studies(rows).front()).limit;
}

/// As measurements of `advise`.
Limit advised(const Plant& plant, const Measured& measured) {
  const auto all = static_cast<double>(measured.alone.images);
  const Supply supply{.threads = plant.one_core ? 1 : threads,
                      .rates = {measured.supply},
                      .images = measured.alone.images,
                      .read = measured.alone.busy_read / all,
                      .decode = measured.alone.busy_decode / all,
                      .augment = measured.alone.busy_augment / all};
  const Consumer consumer{
      .demand = measured.demand, .shares_cores = plant.one_core, .cores = plant.one_core ? 1U : 8U};
  return predict({.name = {}, .at_min = supply, .at_max = supply}, consumer).verdict.limit;
}

/// As `train` sees it, which measures neither supply nor demand.
Limit trained(const Measured& measured) {
  Figures figures = figures_of(measured.together, threads);
  figures.demand.reset();
  figures.delivered = Rate{measured.delivered};
  figures.stall = measured.stall;
  return judge(figures).limit;
}

constexpr unsigned runs = 20, enough_runs = 5, max_runs = 60;

void expect_named(const Plant& plant, Limit planted) {
  unsigned judged = 0;
  for (unsigned run = 0; run < max_runs && judged < runs; ++run) {
    testing::Lateness lateness;
    const Measured measured = measure(plant);
    if (lateness.ended() > testing::tolerated_lateness) continue;
    ++judged;
    const std::string figures =
        join("run ", run, ": supply ", measured.supply, ", compute ", measured.compute, ", demand ",
             measured.demand, ", delivered ", measured.delivered, ", stall ", measured.stall);
    EXPECT_EQ(name(reported(plant, measured)), name(planted)) << figures;
    // Demand without copies is measured by a bench only.
    const Limit seen = planted == Limit::upload ? Limit::trainer : planted;
    EXPECT_EQ(name(advised(plant, measured)), name(seen)) << figures;
    // A worker that waits for a core looks busy.
    if (planted == Limit::cores) continue;
    EXPECT_EQ(name(trained(measured)), name(seen)) << figures;
  }
  if (judged < enough_runs) {
    GTEST_SKIP() << "the machine was not quiet: in " << max_runs - judged << " of " << max_runs
                 << " measurements, a thread woke more than " << testing::tolerated_lateness.count()
                 << " ms late";
  }
}

TEST(SlowPlantedLimits, a_slow_disk) {
  expect_named({.read = Milliseconds(3), .compute = Milliseconds(0.05)}, Limit::read);
}

TEST(SlowPlantedLimits, a_slow_codec) {
  expect_named({.decode = Milliseconds(3), .compute = Milliseconds(0.05)}, Limit::decode);
}

TEST(SlowPlantedLimits, a_slow_trainer) {
  expect_named({.compute = Milliseconds(4)}, Limit::trainer);
}

TEST(SlowPlantedLimits, a_slow_upload) {
  expect_named({.upload = Milliseconds(4), .compute = Milliseconds(0.1)}, Limit::upload);
}

TEST(SlowPlantedLimits, too_few_cores) {
  expect_named({.decode = Milliseconds(2), .compute = Milliseconds(10), .one_core = true},
               Limit::cores);
}

}  // namespace
}  // namespace feedrate::tools
