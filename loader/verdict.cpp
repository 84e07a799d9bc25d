#include "loader/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace feedrate::loader {
namespace {

constexpr double max_tolerance = 0.10;
// A consumer that gets this share of its demand is fed, even where repeats are closer together.
constexpr double fed_share = 0.95;
// Copies are the limit where the device would take this share more without them. Less is the rest
// of copies that overlap with computing.
constexpr double upload_gain = 0.10;

double tolerance(const Rate& a, const Rate& b) {
  return std::clamp(std::max(a.spread, b.spread), min_tolerance, max_tolerance);
}

/// Where demand was not measured, the consumer's rate in the time in which it had a batch.
std::optional<Rate> demand_of(const Figures& figures) {
  if (figures.demand) {
    return figures.demand->value > 0 ? figures.demand : std::nullopt;
  }
  if (!figures.delivered || !figures.stall || *figures.stall >= 1) return std::nullopt;
  return Rate{figures.delivered->value / (1 - *figures.stall), figures.delivered->spread};
}

Limit longest_stage(const Figures& figures) {
  const std::array stages{figures.read, figures.decode, figures.augment};
  const auto longest = std::ranges::max_element(stages);
  if (*longest <= 0) return Limit::loader;
  constexpr std::array limits{Limit::read, Limit::decode, Limit::augment};
  return limits.at(static_cast<std::size_t>(longest - stages.begin()));
}

/// Loader and consumer have more threads than there are cores. Where loader threads were tried and
/// did not help, a consumer that does best without any counts as having one.
bool is_crowded(const Figures& figures) {
  const unsigned threads = std::max(figures.threads, std::min(1U, figures.most_threads));
  return figures.cores > 0 && threads > 0 && threads + figures.computing > figures.cores;
}

Limit limit_of(const Figures& figures) {
  const std::optional<Rate> demand = demand_of(figures);
  if (!figures.delivered || figures.delivered->value <= 0 || !demand) return Limit::unknown;
  const Rate& delivered = *figures.delivered;
  const double share = delivered.value / demand->value;
  if (share >= fed_share || as_fast_as(delivered, *demand)) {
    const bool waits_for_copies =
        figures.compute && figures.compute->value > demand->value * (1 + upload_gain);
    return waits_for_copies ? Limit::upload : Limit::trainer;
  }
  if (figures.threads == 0) return is_crowded(figures) ? Limit::cores : longest_stage(figures);
  const bool waits = figures.stall && *figures.stall > (1 - share) / 2;
  if (figures.supply ? figures.supply->value < demand->value : waits) return longest_stage(figures);
  if (is_crowded(figures)) return Limit::cores;
  return waits ? longest_stage(figures) : Limit::unknown;
}

bool is_fed(Limit limit) { return limit == Limit::trainer || limit == Limit::upload; }

std::string threads_text(unsigned threads) {
  return fmt::format("{} loader thread{}", threads, threads == 1 ? "" : "s");
}

std::string subject(const Figures& figures, Limit limit) {
  switch (limit) {
    case Limit::trainer:
      return fmt::format("The {} is the limit", figures.consumer);
    case Limit::upload:
      return "Copying to the device is the limit";
    case Limit::read:
      return "Reading is the limit";
    case Limit::decode:
      return "Decoding is the limit";
    case Limit::augment:
      return "Augmentation is the limit";
    case Limit::loader:
      return "The loader is the limit";
    case Limit::cores:
      return "The cores are the limit";
    case Limit::unknown:
      return "What the limit is remains open";
  }
  return {};
}

/// "it gets 98 % of what it can take, within the noise"
std::string share_text(const Figures& figures, const std::string& who) {
  const Rate demand = *demand_of(figures);
  const double share = figures.delivered->value / demand.value;
  // Both rates are medians: delivered may come out above demand.
  if (share >= 0.995) return fmt::format("{} gets all that it can take", who);
  const double noise = std::min(std::max(figures.delivered->spread, demand.spread), max_tolerance);
  return fmt::format("{} gets {:.0f} % of what it can take{}", who, 100 * share,
                     1 - share <= noise ? ", within the noise" : "");
}

/// What the consumer does while it has no batch.
std::string stall_text(const Figures& figures) {
  if (!figures.stall) return {};
  const double percent = 100 * *figures.stall;
  if (figures.threads > 0) return fmt::format("; it waits for data {:.1f} % of the time", percent);
  return fmt::format("; loading, which it does itself, takes {:.1f} % of its time", percent);
}

std::string finding(const Figures& figures, Limit limit) {
  const std::string start = subject(figures, limit);
  const std::string who = fmt::format("the {}", figures.consumer);
  if (!figures.delivered || !demand_of(figures)) {
    return fmt::format("{}: neither demand nor waiting was measured.", start);
  }
  if (limit == Limit::trainer) return fmt::format("{}: {}.", start, share_text(figures, "it"));
  std::string text = fmt::format("{}: {}", start, share_text(figures, who));
  if (limit == Limit::upload) {
    return text + fmt::format(", but would take {} as many images/s without copies.",
                              times(figures.compute->value / demand_of(figures)->value));
  }
  text += stall_text(figures);
  const double busy = figures.read + figures.decode + figures.augment;
  const double longest = std::max({figures.read, figures.decode, figures.augment});
  const bool names_stage =
      limit == Limit::read || limit == Limit::decode || limit == Limit::augment;
  if (names_stage && longest < 0.995 * busy) {
    text += fmt::format("; {:.0f} % of the loading time goes there", 100 * longest / busy);
  }
  if (limit == Limit::cores) {
    text += fmt::format(", though the loader alone would be fast enough: both share {} core{}",
                        figures.cores, figures.cores == 1 ? "" : "s");
  }
  return text + ".";
}

/// What would make the stage cheaper.
std::string_view cheaper(Limit limit) {
  switch (limit) {
    case Limit::read:
      return "a faster disk, more memory for its cache or fewer bytes for each image";
    case Limit::decode:
      return "images that decode faster (raw, packed, or smaller ones)";
    case Limit::augment:
      return "smaller images or a cheaper recipe";
    default:
      return "a format that loads faster";
  }
}

std::string advice(const Figures& figures, Limit limit) {
  if (limit == Limit::unknown) return {};
  if (is_fed(limit)) {
    const std::string threads = figures.threads == 0
                                    ? "No loader threads are needed."
                                    : fmt::format("{} {} enough.", threads_text(figures.threads),
                                                  figures.threads == 1 ? "is" : "are");
    if (limit == Limit::trainer) return threads;
    return threads + " A faster bus or fewer bytes for each image would help.";
  }
  if (limit == Limit::cores) return "More cores, or images that load faster, would help.";
  const bool has_core = figures.threads + figures.computing < figures.cores;
  std::string_view more = "More loader threads, or ";
  if (figures.most_threads > figures.threads) {
    more = "More loader threads would not help; ";
  } else if (figures.threads == 0) {
    more = "A loader thread, or ";
  } else if (!has_core) {
    more = "More cores, or ";
  }
  return fmt::format("{}{} would help.", more, cheaper(limit));
}

}  // namespace

std::string times(double factor) {
  return fmt::format("{:.{}f} times", factor, factor < 10 ? 1 : 0);
}

std::string_view name(Limit limit) {
  constexpr std::array<std::string_view, 8> names = {"trainer", "upload", "read",  "decode",
                                                     "augment", "loader", "cores", "unknown"};
  return names.at(static_cast<std::size_t>(limit));
}

bool as_fast_as(const Rate& rate, const Rate& best) {
  return rate.value >= best.value * (1 - tolerance(rate, best));
}

Figures figures_of(const LoaderStats& stats, unsigned threads) {
  Figures figures{.threads = threads};
  const double busy = stats.busy_read + stats.busy_decode + stats.busy_augment;
  const auto images = static_cast<double>(stats.images);
  // The time outside next(), in which the consumer worked.
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

Verdict judge(const Figures& figures) {
  const Limit limit = limit_of(figures);
  return {limit, finding(figures, limit), advice(figures, limit)};
}

}  // namespace feedrate::loader
