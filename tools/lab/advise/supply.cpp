#include "tools/lab/advise/supply.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/statistics.h"
#include "formats/base/stop.h"
#include "loader/drive.h"
#include "tools/lab/measure/sampler.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

double Supply::rate() const { return median(rates); }

double Supply::doubt() const {
  constexpr double of_cpu_time = 0.1;
  return ran_while_crowded() ? of_cpu_time : relative_spread(rates) / 2;
}

double Supply::cost() const {
  const double all = threads / rate();
  const std::optional<double> waits = contention.waits_percent;
  if (!waits || *waits >= 100 || !ran_while_crowded()) return all;
  return std::max(cpu, all - cpu * *waits / (100 - *waits));
}

std::optional<double> Supply::ran_while_crowded() const {
  if (rates.empty()) return std::nullopt;
  return tools::ran_while_crowded(cpu * rate() / std::max(1U, threads), contention);
}

void add_slice(Supply& supply, const Dataset& dataset, const Recipe& recipe,
               const SupplyOptions& options) {
  LoaderOptions loading = options.loader;
  loading.epochs = 0;
  loading.start.seed += supply.rates.size();
  Loader loader(dataset, recipe, loading);
  Sampler sampler;
  sampler.enter(Section::measured);
  const DriveResult result = drive(loader, {.seconds = options.seconds});
  const Contention contention = contention_of(sampler.measured());
  throw_if_stop_requested();
  const auto rate = result.images_per_second();
  if (!rate) fail(dataset.info().path, "its rate is unknown: " + result.unknown_rate());
  const LoaderStats stats = loader.stats();
  supply.threads = loading.threads;
  supply.rates.push_back(*rate);
  supply.images += stats.images;
  const auto images = static_cast<double>(supply.images);
  const auto before = static_cast<double>(supply.images - stats.images);
  const auto add = [&](double& mean, double busy) { mean = (mean * before + busy) / images; };
  add(supply.read, stats.busy_read);
  add(supply.decode, stats.busy_decode);
  add(supply.augment, stats.busy_augment);
  add(supply.cpu, result.cpu_seconds);
  add(supply.kernel, result.kernel_seconds);
  const auto add_share = [&](std::optional<double>& mean, std::optional<double> share) {
    if (share) add(mean.emplace(mean.value_or(0)), *share * static_cast<double>(stats.images));
  };
  add_share(supply.contention.machine_waits_percent, contention.machine_waits_percent);
  add_share(supply.contention.waits_percent, contention.waits_percent);
}

}  // namespace feedrate::tools
