// The limit that is planted beside an emulated device is named, and what would help. The rows are made
// up, with a noise of their own for each of twenty benches; samples/bench_emulated.py plants real ones.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "formats/base/random.h"
#include "tests/support/in_text.h"
#include "tests/tools/noise.h"
#include "tests/tools/rows.h"
#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {
namespace {

constexpr double device_rate = 5000;  // images/s
constexpr unsigned benches = 20;

struct Planted {
  unsigned cores = 16;    // that the process may use
  unsigned threads = 16;  // of the loader
  double read_us = 10;    // of a worker, for an image
  double decode_us = 1000;
  std::string_view cache = warm_cache;
};

/// Up to 1 % more or less.
std::vector<double> noisy(double rate, std::uint64_t& draws) {
  std::vector<double> rates;
  for (int round = 0; round < 3; ++round) {
    const double share =
        static_cast<double>(formats::below(formats::random_bits(7, draws++), 1000)) / 1000;
    rates.push_back(rate * (0.99 + 0.02 * share));
  }
  return rates;
}

Row of_bench(Row row, const Planted& planted, double rate, std::uint64_t& draws) {
  row.repeats = noisy(rate, draws);
  row.images_per_second = formats::median(row.repeats);
  row.environment.cores = planted.cores;
  if (row.kind == supply_kind) return row;
  row.device = "emulated fast";
  row.precision.reset();
  row.emulates = "5000.0 images/s: made up";
  row.emulated_rate = device_rate;
  return row;
}

std::vector<Row> rows_of(const Planted& planted, std::uint64_t& draws) {
  const double cost = (planted.read_us + planted.decode_us + 100) * 1e-6;
  const double supply = std::min(planted.threads, planted.cores) / cost;
  const double delivered = std::min(supply, device_rate);
  std::vector<Row> rows{
      of_bench(testing::supply("recordio", planted.threads, 1), planted, supply, draws),
      of_bench(testing::demand(1), planted, device_rate, draws),
      of_bench(
          testing::delivered("recordio", planted.threads, 1, 100 * (1 - delivered / device_rate)),
          planted, delivered, draws)};
  for (Row& row : rows) {
    row.cache = planted.cache;
    if (row.kind == demand_kind) continue;
    row.read_us = planted.read_us;
    row.decode_us = planted.decode_us;
    row.augment_us = 100;
  }
  return rows;
}

StudyVerdict verdict_of(const std::vector<Row>& rows) { return judge(make_studies(rows).front()); }

void expect_named(const Planted& planted, loader::Limit limit, std::string_view help) {
  std::uint64_t draws = 0;
  for (unsigned bench = 0; bench < benches; ++bench) {
    const StudyVerdict verdict = verdict_of(rows_of(planted, draws));
    EXPECT_EQ(name(verdict.limit), name(limit)) << verdict.reason();
    EXPECT_TRUE(testing::has(verdict.answer + verdict.reason(), help))
        << verdict.answer << verdict.reason();
  }
}

TEST(UnitEmulatedLimits, few_threads) {
  expect_named({.threads = 2}, loader::Limit::decode, "More loader threads");
}

TEST(UnitEmulatedLimits, few_cores) {
  expect_named({.cores = 2, .threads = 2}, loader::Limit::decode, "More cores");
}

TEST(UnitEmulatedLimits, a_quota_of_a_core_for_more_threads) {
  expect_named({.cores = 1, .threads = 4}, loader::Limit::decode, "More cores");
}

TEST(UnitEmulatedLimits, slow_storage) {
  expect_named({.read_us = 20'000, .cache = cold_cache}, loader::Limit::read, "a faster disk");
}

TEST(UnitEmulatedLimits, nothing) {
  expect_named({}, loader::Limit::trainer, "16 loader threads are enough");
}

}  // namespace
}  // namespace feedrate::tools
