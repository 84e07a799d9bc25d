#include "tools/lab/measure/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tools/console/text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

std::string limit_clause(Limit limit) {
  switch (limit) {
    case Limit::trainer:
      return "The trainer is the limit";
    case Limit::upload:
      return "Copying to the device is the limit";
    case Limit::read:
      return "Reading is the limit";
    case Limit::network:
      return "The network is the limit";
    case Limit::decode:
      return "Decoding is the limit";
    case Limit::augment:
      return "Augmentation is the limit";
    case Limit::loader:
      return "The loader is the limit";
    case Limit::cores:
      return "The cores are the limit";
    case Limit::unknown:
      return "The limit is unclear";
  }
  return {};
}

/// "the trainer runs at 40 % of full speed"
std::string speed_text(const Verdict& verdict) {
  return fmt::format("the trainer runs at {:.0f} % of full speed",
                     100 * verdict.figures.delivered->value / verdict.demand->value);
}

/// " and waits for data 60 % of the time": what the trainer does while it has no batch.
std::string stall_text(const Figures& figures) {
  if (!figures.stall) return {};
  const std::string share = share_text(*figures.stall);
  return figures.threads > 0 ? " and waits for data " + share + " of the time"
                             : ", and loading takes " + share + " of its time";
}

/// How much of the loading time the longest stage takes; "" where that is all of it.
std::string stage_text(const Verdict& verdict) {
  const Figures& figures = verdict.figures;
  const double busy = figures.read + figures.decode + figures.augment;
  const double longest = std::max({figures.read, figures.decode, figures.augment});
  if (longest >= 0.995 * busy) return {};
  const std::string_view stage = verdict.limit == Limit::decode    ? "Decoding"
                                 : verdict.limit == Limit::augment ? "Augmentation"
                                                                   : "Reading";
  return fmt::format(" {} takes {:.0f} % of loading time.", stage, 100 * longest / busy);
}

/// What would make the stage cheaper.
std::string_view cheaper(Limit limit) {
  switch (limit) {
    case Limit::read:
      return "a faster disk, more memory for the page cache, or fewer bytes per image";
    case Limit::network:
      return "a faster or nearer server, more --connections, a --cache-dir, or fewer bytes per "
             "image";
    case Limit::decode:
      return "images that decode faster (raw, packed, or smaller ones)";
    case Limit::augment:
      return "smaller images or a cheaper recipe";
    default:
      return "a format that loads faster";
  }
}

std::string remedy_text(const Verdict& verdict) {
  const std::string_view worker = verdict.figures.worker;
  switch (verdict.remedy) {
    case Remedy::none:
      return {};
    case Remedy::first_thread:
      return fmt::format("A {}, or ", worker);
    case Remedy::threads:
      return fmt::format("More {}s, or ", worker);
    case Remedy::cores:
      return "More cores, or ";
  }
  return {};
}

}  // namespace

std::string share_text(double share) {
  if (share < 0.0005) return "less than 0.1 %";
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

std::string finding_text(const Verdict& verdict) {
  const Figures& figures = verdict.figures;
  const std::string limit = limit_clause(verdict.limit);
  if (!figures.delivered || !verdict.demand || !verdict.loss) {
    return fmt::format("{}: neither demand nor stall was measured.", limit);
  }
  switch (verdict.limit) {
    case Limit::trainer:
      return fmt::format("{}: loading costs {} of its time.", limit, share_text(*verdict.loss));
    case Limit::upload:
      return fmt::format("{}: without copies, the trainer would run {} as fast.", limit,
                         times(figures.compute->value / verdict.demand->value));
    case Limit::cores:
      return fmt::format("{}: {}, because it shares {} with the loader.", limit,
                         speed_text(verdict), counted(figures.cores, "core"));
    case Limit::read:
    case Limit::network:
    case Limit::decode:
    case Limit::augment:
      return fmt::format("{}: {}{}.{}", limit, speed_text(verdict), stall_text(figures),
                         stage_text(verdict));
    default:
      return fmt::format("{}: {}{}.", limit, speed_text(verdict), stall_text(figures));
  }
}

std::string advice_text(const Verdict& verdict) {
  const std::string enough =
      enough_threads_text(verdict.figures.threads, verdict.figures.worker) + ".";
  switch (verdict.limit) {
    case Limit::unknown:
      return {};
    case Limit::trainer:
      return enough;
    case Limit::upload:
      return enough + " A faster bus, or fewer bytes per image, would help.";
    case Limit::cores:
      return "More cores, or images that load faster, would help.";
    default:
      return capitalized(
          fmt::format("{}{} would help.", remedy_text(verdict), cheaper(verdict.limit)));
  }
}

std::string verdict_text(const Verdict& verdict) {
  const std::string advice = advice_text(verdict);
  return finding_text(verdict) + (advice.empty() ? "" : " " + advice);
}

std::string enough_threads_text(unsigned threads, std::string_view worker) {
  if (threads == 0) return fmt::format("No {}s are needed", worker);
  return fmt::format("{} {} enough", loader_threads(threads, worker), threads == 1 ? "is" : "are");
}

std::string tuning_text(const Tuning& tuning) {
  const ThreadsTried* const found = tuning.knee();
  if (found == nullptr) {
    return fmt::format("{}: the run was too short to find the best number",
                       counted(tuning.threads, "thread"));
  }
  const std::string threads = counted(found->threads, "thread");
  const char* const verb_end = found->threads == 1 ? "s" : "";
  std::string text;
  switch (tuning.outcome()) {
    case Tuning::Outcome::too_short:
      break;
    case Tuning::Outcome::fed:
      text = fmt::format("{} keep{} the trainer busy", threads, verb_end);
      break;
    case Tuning::Outcome::at_limit:
      text =
          tuning.is_need_known()
              ? fmt::format(
                    "feeding the trainer takes about {:.0f} threads; {} allowed",
                    std::ceil(tuning.need),
                    tuning.max_threads == 1 ? "1 was" : fmt::format("{} were", tuning.max_threads))
              : fmt::format("{}, the most allowed, deliver{} the most images/s", threads, verb_end);
      break;
    case Tuning::Outcome::no_gain:
      text = fmt::format("{} deliver{} as many images/s as more threads do", threads, verb_end);
      break;
  }
  return tuning.settled ? text : text + " (the search had not ended)";
}

std::string unfed_text(double reached, std::string_view whom, std::vector<NeededCores> needed) {
  std::string text = fmt::format("This machine reaches {:.0f} % of {}.", 100 * reached, whom);
  std::ranges::stable_sort(needed, std::greater(), &NeededCores::cores);
  std::vector<std::string> parts;
  for (const auto& [cores, from] : needed) {
    const auto whole = static_cast<unsigned>(std::ceil(cores - 1e-9));
    parts.push_back(parts.empty() ? counted(std::max(1U, whole), "core")
                                  : std::to_string(std::max(1U, whole)));
    if (!from.empty()) parts.back() += " with " + from;
  }
  if (parts.empty()) return text;
  return text + fmt::format(" Feeding it takes about {}.", fmt::join(parts, ", "));
}

std::string cores_taken_text(double cores) {
  return cores < 0.05 ? "less than 0.1 cores" : fmt::format("about {:.1f} cores", cores);
}

std::string loader_threads(unsigned threads, std::string_view worker) {
  return threads == 0 ? fmt::format("no {}s", worker) : counted(threads, worker);
}

std::string times(double factor) {
  return fmt::format("{:.{}f} times", factor, factor < 10 ? 1 : 0);
}

}  // namespace feedrate::tools
