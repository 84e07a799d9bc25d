#include "tools/advise/supply.h"

#include <algorithm>

#include "loader/drive.h"
#include "tools/row.h"

namespace feedrate {

double Supply::rate() const { return median(rates); }

double Supply::doubt() const {
  const auto [low, high] = std::ranges::minmax_element(rates);
  return (*high - *low) / 2 / rate();
}

Supply measure_supply(const Dataset& dataset, const Recipe& recipe, const SupplyOptions& options) {
  Supply supply;
  supply.threads = options.threads;
  std::uint64_t images = 0;
  for (unsigned slice = 0; slice < options.slices; ++slice) {
    LoaderOptions settings;
    settings.threads = options.threads;
    settings.batch = options.batch;
    settings.seed = options.seed + slice;
    settings.epochs = 0;
    Loader loader(dataset, recipe, settings);
    const DriveResult result = drive(loader, {.seconds = options.seconds});
    const LoaderStats stats = loader.stats();
    supply.rates.push_back(result.images_per_second);
    supply.read += stats.busy_read;
    supply.decode += stats.busy_decode;
    supply.augment += stats.busy_augment;
    images += stats.images;
  }
  for (double* const busy : {&supply.read, &supply.decode, &supply.augment}) {
    *busy /= static_cast<double>(images);
  }
  return supply;
}

}  // namespace feedrate
