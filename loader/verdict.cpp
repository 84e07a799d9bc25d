#include "loader/verdict.h"

#include <algorithm>
#include <array>

namespace feedrate::loader {
namespace {

// Copies are the limit where the device would take this share more without them. Less is the rest
// of copies that overlap with computing.
constexpr double upload_gain = 0.10;

double tolerance(const Rate& a, const Rate& b) {
  return std::clamp(std::max(a.spread, b.spread), min_tolerance, max_tolerance);
}

// Where demand was not measured, or was exceeded: the trainer's rate in the time in which it had a batch.
std::optional<Rate> demand_of(const Figures& figures) {
  if (figures.demand && figures.demand->value <= 0) return std::nullopt;
  if (figures.demand && !exceeds_demand(figures)) return figures.demand;
  if (!figures.delivered || !figures.stall || *figures.stall >= 1) return std::nullopt;
  return Rate{figures.delivered->value / (1 - *figures.stall), figures.delivered->spread};
}

Limit longest_stage(const Figures& figures) {
  const std::array stages{figures.read, figures.decode, figures.augment};
  const auto longest = std::ranges::max_element(stages);
  if (*longest <= 0) return Limit::loader;
  const std::array limits{figures.remote ? Limit::network : Limit::read, Limit::decode,
                          Limit::augment};
  return limits.at(static_cast<std::size_t>(longest - stages.begin()));
}

// Loader and trainer have more threads than there are cores. Where loader threads were tried and
// did not help, a trainer that does best without any counts as having one.
bool is_crowded(const Figures& figures) {
  const unsigned threads = std::max(figures.threads, std::min(1U, figures.most_threads));
  return figures.cores > 0 && threads > 0 && threads + figures.computing > figures.cores;
}

// Of the CPU time that loader and trainer take together, the loader's share: what a trainer loses that computes on all
// cores. A thread that drives a device mostly waits for it.
double shared_loss(const Figures& figures) {
  const bool computes_here = figures.computing >= figures.cores;
  if (figures.threads == 0 || figures.trainer_cpu <= 0 || !computes_here) return 0;
  return figures.loader_cpu / (figures.loader_cpu + figures.trainer_cpu);
}

Limit limit_of(const Figures& figures) {
  const std::optional<Rate> demand = demand_of(figures);
  const std::optional<double> loss = loss_of(figures);
  if (!demand || !loss) return Limit::unknown;
  if (*loss <= max_loss) {
    const bool waits_for_copies =
        figures.compute && figures.compute->value > demand->value * (1 + upload_gain);
    return waits_for_copies ? Limit::upload : Limit::trainer;
  }
  if (figures.threads == 0) return is_crowded(figures) ? Limit::cores : longest_stage(figures);
  const bool waits = figures.stall && *figures.stall > *loss / 2;
  if (is_crowded(figures) && figures.stall && !waits) return Limit::cores;
  if (figures.supply ? figures.supply->value < demand->value : waits) return longest_stage(figures);
  if (is_crowded(figures)) return Limit::cores;
  return waits ? longest_stage(figures) : Limit::unknown;
}

Remedy remedy_of(const Figures& figures, Limit limit) {
  if (limit == Limit::unknown || is_fed(limit)) return Remedy::none;
  if (limit == Limit::cores) return Remedy::cores;
  if (limit == Limit::network) return Remedy::none;  // it is read ahead, whatever the threads
  if (figures.most_threads > figures.threads) return Remedy::none;
  if (figures.threads == 0) return Remedy::first_thread;
  return figures.threads + figures.computing < figures.cores ? Remedy::threads : Remedy::cores;
}

}  // namespace

std::string_view name(Limit limit) {
  constexpr std::array<std::string_view, 9> names = {
      "trainer", "upload", "read", "network", "decode", "augment", "loader", "cores", "unknown"};
  return names.at(static_cast<std::size_t>(limit));
}

bool is_fed(Limit limit) { return limit == Limit::trainer || limit == Limit::upload; }

bool waits_for_data(Limit limit) { return limit == Limit::read || limit == Limit::network; }

bool as_fast_as(const Rate& rate, const Rate& best) {
  return rate.value >= best.value * (1 - tolerance(rate, best));
}

bool exceeds_demand(const Figures& figures) {
  return figures.demand && figures.delivered && figures.demand->value > 0 &&
         figures.delivered->value > max_share_of_demand * figures.demand->value;
}

Figures figures_of(const LoaderStats& stats, unsigned threads) {
  Figures figures{.threads = threads};
  const double busy = stats.busy_read + stats.busy_decode + stats.busy_augment;
  const auto images = static_cast<double>(stats.images);
  // The time outside next(), in which the trainer worked.
  const double consuming = stats.alive_seconds - stats.wait_seconds;
  if (stats.images == 0 || busy <= 0 || consuming <= 0) return figures;
  figures.supply = Rate{images * std::max(1U, threads) / busy};
  figures.demand = Rate{images / consuming};
  figures.delivered = Rate{images / stats.alive_seconds};
  figures.stall = stats.wait_seconds / stats.alive_seconds;
  figures.read = stats.busy_read / images;
  figures.decode = stats.busy_decode / images;
  figures.augment = stats.busy_augment / images;
  return figures;
}

std::optional<double> loss_of(const Figures& figures) {
  const std::optional<Rate> demand = demand_of(figures);
  if (!figures.delivered || figures.delivered->value <= 0 || !demand) return std::nullopt;
  const Rate& delivered = *figures.delivered;
  const double missing = 1 - delivered.value / demand->value;
  if (!figures.stall) return std::clamp(missing, 0.0, 1.0);
  if (!is_crowded(figures)) return std::clamp(*figures.stall, 0.0, 1.0);
  const double beyond_noise = missing - std::max(delivered.spread, demand->spread);
  return std::clamp(std::max({*figures.stall, shared_loss(figures), beyond_noise}), 0.0, 1.0);
}

Verdict judge(const Figures& figures) {
  const Limit limit = limit_of(figures);
  return {limit, remedy_of(figures, limit), demand_of(figures), loss_of(figures), figures};
}

}  // namespace feedrate::loader
