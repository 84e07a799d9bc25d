#include "tools/lab/advise/supply.h"

#include "formats/base/error.h"
#include "formats/base/statistics.h"
#include "formats/base/stop.h"
#include "loader/drive.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

double Supply::rate() const { return median(rates); }

double Supply::doubt() const { return relative_spread(rates) / 2; }

void add_slice(Supply& supply, const Dataset& dataset, const Recipe& recipe,
               const SupplyOptions& options) {
  LoaderOptions loading = options.loader;
  loading.epochs = 0;
  loading.start.seed += supply.rates.size();
  Loader loader(dataset, recipe, loading);
  const DriveResult result = drive(loader, {.seconds = options.seconds});
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
}

}  // namespace feedrate::tools
