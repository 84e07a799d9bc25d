#include "tools/lab/bench/forecast.h"

#include <algorithm>

#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {
namespace {

bool is_demand_of(const Row& row, const Row& point) {
  return row.kind == demand_kind && row.tool == point.tool && row.digest == point.digest &&
         row.recipe == point.recipe && row.batch == point.batch && row.network == point.network &&
         row.device == point.device && row.precision == point.precision &&
         row.emulates == point.emulates && row.compute_threads == point.compute_threads &&
         row.images_per_second > 0;
}

bool is_supply_of(const Row& row, const Row& point) {
  return row.kind == supply_kind && row.tool == point.tool && row.digest == point.digest &&
         row.dataset == point.dataset && row.format == point.format && row.codec == point.codec &&
         row.decode == point.decode && row.recipe == point.recipe && row.batch == point.batch &&
         row.cache == point.cache && row.servers == point.servers &&
         row.shuffle_blocks == point.shuffle_blocks && row.threads && row.images_per_second > 0;
}

Supply supply_of(const Row& row, unsigned threads) {
  Supply supply;
  supply.threads = threads;
  supply.rates = {row.images_per_second};
  return supply;
}

std::optional<Variant> variant_of(const Row& point, std::span<const Row> rows, unsigned cores) {
  const bool own_thread = point.threads == 0U;
  std::optional<Variant> variant;
  for (const Row& row : rows) {
    if (!is_supply_of(row, point)) continue;
    if (own_thread && row.threads == 0U) {
      const Supply own = supply_of(row, 1);
      return Variant{.name = {}, .at_min = own, .at_max = own};
    }
    if (row.threads == 0U) continue;
    const Supply supply = supply_of(row, std::min(*row.threads, cores));
    if (!variant) variant = Variant{.name = {}, .at_min = supply, .at_max = supply};
    if (supply.threads < variant->at_min.threads) variant->at_min = supply;
    if (supply.threads > variant->at_max.threads) variant->at_max = supply;
  }
  return variant;
}

}  // namespace

std::optional<double> forecast(const Row& point, std::span<const Row> rows, unsigned cores) {
  const auto demand =
      std::ranges::find_if(rows, [&](const Row& row) { return is_demand_of(row, point); });
  const std::optional<Variant> variant = variant_of(point, rows, cores);
  if (demand == rows.end() || !variant) return std::nullopt;
  const Consumer consumer{.demand = demand->images_per_second,
                          .shares_cores = point.device == "cpu",
                          .cores = cores,
                          .threads = std::min(point.compute_threads.value_or(cores), cores),
                          .driving_seconds = demand->cpu_us.value_or(0) * 1e-6};
  return delivered(*variant, consumer, std::min(point.threads.value_or(0), cores));
}

std::optional<double> forecast_error_percent(const Row& row) {
  if (!row.predicted || row.images_per_second <= 0) return std::nullopt;
  return 100 * (*row.predicted / row.images_per_second - 1);
}

}  // namespace feedrate::tools
