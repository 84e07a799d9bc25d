// Benches of a made-up machine whose true limit is known: five limits, repeats that differ by 1 to 40 %, and
// other programs that leave the loader's threads all of a core or 40 % of it. What the verdict recommends has to be
// right whatever the noise.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/base/statistics.h"
#include "tests/tools/noise.h"
#include "tests/tools/rows.h"
#include "tools/lab/report/study/study_verdict.h"

namespace feedrate::tools {
namespace {

using loader::Limit;

enum class Truth : std::uint8_t { trainer, few_threads, few_cores, storage, shared_cores };
constexpr std::array truths{Truth::trainer, Truth::few_threads, Truth::few_cores, Truth::storage,
                            Truth::shared_cores};
constexpr std::array names{"trainer", "few threads", "few cores", "storage", "shared cores"};

/// Formats, by the CPU time of an image as a share of the dearest.
constexpr std::array<std::pair<const char*, double>, 3> formats_of{
    {{"recordio", 1.0}, {"tfrecord", 0.95}, {"lmdb", 0.6}}};

struct Machine {
  unsigned cores = 16;
  unsigned most_threads = 16;  // that were tried
  double cpu = 1e-3;           // seconds of a core for an image of the dearest format
  double disk = 0;             // seconds of a thread for an image, waiting
  double demand = 5000;        // images/s
  bool trains_on_cpu = false;
};

Machine machine_of(Truth truth) {
  switch (truth) {
    case Truth::trainer:
      return {.most_threads = 4, .demand = 400};
    case Truth::few_threads:
      return {.most_threads = 2};
    case Truth::few_cores:
      return {.cores = 2, .most_threads = 2};
    case Truth::storage:
      return {.disk = 20e-3};
    case Truth::shared_cores:
      return {.cores = 2, .most_threads = 2, .cpu = 2e-3, .demand = 1000, .trains_on_cpu = true};
  }
  return {};
}

/// What each thread of a loader gives, while it has this share of a core.
double per_thread(const Machine& machine, double cost, double got) {
  return 1 / (machine.disk + cost * machine.cpu / got);
}

double supply_of(const Machine& machine, double cost, unsigned threads, double got) {
  return std::max(1U, threads) * per_thread(machine, cost, got);
}

/// Images/s of both together. A trainer on the CPU and the loader share the cores' time.
double delivered_of(const Machine& machine, double cost, unsigned threads, double got) {
  const double demand = machine.trains_on_cpu ? machine.demand * got : machine.demand;
  if (threads == 0) return 1 / (1 / demand + 1 / per_thread(machine, cost, got));
  const double supply = supply_of(machine, cost, threads, got);
  if (!machine.trains_on_cpu) return std::min(supply, demand);
  const double trainer = machine.cores / machine.demand;  // core-seconds for an image
  return std::min(supply, machine.cores * got / (trainer + cost * machine.cpu));
}

class Bench {
 public:
  Bench(Truth truth, double noise, double taken, std::uint64_t key)
      : machine_(machine_of(truth)), deviation_(noise), got_(1 - taken), noise_(key) {
    for (double& one : drift_) one = noise_.factor(deviation_);
  }

  std::vector<Row> rows() {
    const double demand = machine_.trains_on_cpu ? machine_.demand * got_ : machine_.demand;
    std::vector<Row> rows{measured(testing::demand(1), demand)};
    rows.front().cpu_us = 1e6 * (machine_.trains_on_cpu ? machine_.cores / machine_.demand : 5e-5);
    for (const auto& [format, cost] : formats_of) {
      for (unsigned threads = 0; threads <= machine_.most_threads;
           threads = threads == 0 ? 1 : 2 * threads) {
        rows.push_back(measured(testing::supply(format, threads, 1),
                                supply_of(machine_, cost, threads, got_)));
        add_costs(rows.back(), cost);
        const double rate = delivered_of(machine_, cost, threads, got_);
        const double stall =
            machine_.trains_on_cpu && threads > 0 ? 0.01 : std::max(0.0, 1 - rate / demand);
        rows.push_back(measured(testing::delivered(format, threads, 1, 0), rate));
        rows.back().stall_percent = 100 * std::min(1.0, stall * noise_.factor(0.05));
        add_costs(rows.back(), cost);
      }
    }
    return rows;
  }

 private:
  /// A device keeps its pace better than a loader does.
  Row measured(Row row, double rate) {
    constexpr double most_of_device = 0.05;
    const bool of_device = row.kind == demand_kind && !machine_.trains_on_cpu;
    const double deviation = of_device ? std::min(most_of_device, deviation_) : deviation_;
    row.repeats.clear();
    for (const double drift : drift_) {
      row.repeats.push_back(rate * (of_device ? 1 : drift) * noise_.factor(deviation));
    }
    row.images_per_second = formats::median(row.repeats);
    row.environment.cores = row.environment.cores_present = machine_.cores;
    if (row.kind == supply_kind || machine_.trains_on_cpu) return row;
    row.device = "cuda";
    return row;
  }

  /// CPU time differs by 6 % from row to row.
  void add_costs(Row& row, double cost) {
    const double cpu = cost * machine_.cpu * noise_.factor(0.06);
    row.cpu_us = 1e6 * cpu;
    row.read_us = 1e6 * machine_.disk + 5;
    row.decode_us = 0.7e6 * cpu / got_;
    row.augment_us = 0.3e6 * cpu / got_;
    row.telemetry.core_wait_percent = 100 * (1 - got_);
  }

  Machine machine_;
  double deviation_;
  double got_;
  testing::Noise noise_;
  std::array<double, 3> drift_{};
};

enum class Outcome : std::uint8_t { right, unclear, wrong };

/// The cores that the cheapest format needs, within a quarter.
bool is_true_number(double cores, const Machine& machine) {
  const double truth = machine.demand * machine.cpu * 0.6;
  return cores > truth * 0.75 && cores < truth * 1.25;
}

Outcome outcome_of(Truth truth, const StudyVerdict& verdict) {
  const Machine machine = machine_of(truth);
  if (verdict.limit == Limit::unknown) return Outcome::unclear;
  const auto said = [&](bool right) { return right ? Outcome::right : Outcome::wrong; };
  const bool fed = loader::is_fed(verdict.limit);
  if (truth == Truth::trainer) return said(fed && verdict.threads <= 1);
  if (fed) return Outcome::wrong;
  if (truth == Truth::storage) return said(verdict.limit == Limit::read && !verdict.cores);
  if (truth == Truth::shared_cores && verdict.limit != Limit::cores) return Outcome::wrong;
  if (!verdict.too_close.empty()) {
    return std::ranges::find(verdict.too_close, "lmdb × raw") != verdict.too_close.end()
               ? Outcome::unclear
               : said(verdict.format == "lmdb × raw");
  }
  if (verdict.format != "lmdb × raw") return Outcome::wrong;
  if (truth == Truth::shared_cores) return Outcome::right;
  return said(verdict.cores && is_true_number(verdict.cores->likely, machine));
}

TEST(UnitSimulatedBenches, the_recommendation_is_right_whatever_the_noise) {
  constexpr std::array noises{0.01, 0.05, 0.1, 0.2, 0.4};
  constexpr std::array taken{0.0, 0.1, 0.3, 0.6};
  constexpr unsigned each = 10;
  std::array<unsigned, 3> counts{};
  std::uint64_t benches = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    for (const double noise : noises) {
      for (const double by_others : taken) {
        for (unsigned bench = 0; bench < each; ++bench) {
          const std::uint64_t key = ++benches;
          const Study study = make_studies(Bench(truths[i], noise, by_others, key).rows()).front();
          const StudyVerdict verdict = judge(study);
          const Outcome outcome = outcome_of(truths[i], verdict);
          ++counts[static_cast<std::size_t>(outcome)];
          if (outcome == Outcome::right) continue;
          RecordProperty(fmt::format("{}_{}_{}_{}", names[i], noise, by_others, bench),
                         sentence(study, verdict));
        }
      }
    }
  }
  const auto [right, unclear, wrong] = counts;
  const unsigned all = right + unclear + wrong;
  EXPECT_GE(right, all * 95 / 100) << right << " of " << all;
  EXPECT_LE(unclear, all * 5 / 100) << unclear << " of " << all;
  EXPECT_LE(wrong, all / 100) << wrong << " of " << all;
}

}  // namespace
}  // namespace feedrate::tools
