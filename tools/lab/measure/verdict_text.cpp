#include "tools/lab/measure/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/console/text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

std::string limit_clause(const Verdict& verdict) {
  switch (verdict.limit) {
    case Limit::trainer:
      return fmt::format("The {} is the limit", verdict.figures.consumer);
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
      return "What the limit is remains open";
  }
  return {};
}

/// "it gets 98 % of what it can take, within the noise"
std::string share_text(const Verdict& verdict, const std::string& who) {
  const Rate& delivered = *verdict.figures.delivered;
  const double share = delivered.value / verdict.demand->value;
  // Both rates are medians: delivered may come out above demand.
  if (share >= 0.995) return fmt::format("{} gets all that it can take", who);
  const double noise = std::min(std::max(delivered.spread, verdict.demand->spread), max_tolerance);
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

/// That it got more than it can take, and what it waited for then.
std::string disturbed_text(const Figures& figures, const std::string& who) {
  return fmt::format(
      "{} got more, {} images/s, than it took alone, {}: one of the two was disturbed{}", who,
      quantity(figures.delivered->value), quantity(figures.demand->value), stall_text(figures));
}

/// How much of the loading time the longest stage takes; "" where that is all of it.
std::string stage_text(const Figures& figures) {
  const double busy = figures.read + figures.decode + figures.augment;
  const double longest = std::max({figures.read, figures.decode, figures.augment});
  if (longest >= 0.995 * busy) return {};
  return fmt::format("; {:.0f} % of the loading time goes there", 100 * longest / busy);
}

/// What would make the stage cheaper.
std::string_view cheaper(Limit limit) {
  switch (limit) {
    case Limit::read:
      return "a faster disk, more memory for a cache or fewer bytes for each image";
    case Limit::network:
      return "a faster or nearer server, more --connections, a --cache-dir or fewer bytes for each "
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
      return fmt::format("More {}s would not help; ", worker);
    case Remedy::first_thread:
      return fmt::format("A {}, or ", worker);
    case Remedy::threads:
      return fmt::format("More {}s, or ", worker);
    case Remedy::cores:
      return "More cores, or ";
  }
  return {};
}

std::string ordinal(unsigned number) {
  const unsigned last = number % 100 / 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

}  // namespace

std::string limit_names(Limit limit, const std::vector<Limit>& others) {
  if (others.empty()) return std::string(name(limit));
  std::vector<std::string> names;
  for (const Limit one : others) names.emplace_back(one == Limit::unknown ? "another" : name(one));
  // Of several, the one without a name comes last.
  names.insert(limit == Limit::unknown ? names.end() : names.begin(),
               std::string(limit == Limit::unknown ? "another" : name(limit)));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string finding_text(const Verdict& verdict) { return finding_text(verdict, {}); }

std::string finding_text(const Verdict& verdict, const std::vector<Limit>& others) {
  const Figures& figures = verdict.figures;
  const std::string limit = others.empty() ? limit_clause(verdict)
                                           : "The rounds do not tell whether the limit is " +
                                                 limit_names(verdict.limit, others);
  if (exceeds_demand(figures)) {
    const bool is_named = verdict.limit == Limit::trainer && others.empty();
    return fmt::format(
        "{}: {}.", limit,
        disturbed_text(figures, is_named ? "it" : fmt::format("the {}", figures.consumer)));
  }
  if (!figures.delivered || !verdict.demand) {
    return fmt::format("{}: neither demand nor waiting was measured.", limit);
  }
  if (verdict.limit == Limit::trainer && others.empty()) {
    return fmt::format("{}: {}.", limit, share_text(verdict, "it"));
  }
  std::string text =
      fmt::format("{}: {}", limit, share_text(verdict, fmt::format("the {}", figures.consumer)));
  if (!others.empty()) return text + stall_text(figures) + ".";
  if (verdict.limit == Limit::upload) {
    return text + fmt::format(", but would take {} as many images/s without copies.",
                              times(figures.compute->value / verdict.demand->value));
  }
  text += stall_text(figures);
  switch (verdict.limit) {
    case Limit::read:
    case Limit::network:
    case Limit::decode:
    case Limit::augment:
      text += stage_text(figures);
      break;
    case Limit::cores:
      text += fmt::format(", though the loader alone would be fast enough: both share {}",
                          counted(figures.cores, "core"));
      break;
    default:
      break;
  }
  return text + ".";
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
      return enough + " A faster bus or fewer bytes for each image would help.";
    case Limit::cores:
      return "More cores, or images that load faster, would help.";
    default:
      return fmt::format("{}{} would help.", remedy_text(verdict), cheaper(verdict.limit));
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
      text = fmt::format("{} keep{} the consumer fed, which needs {:.2g}", threads, verb_end,
                         tuning.need);
      if (found->threads < tuning.max_threads) {
        text += fmt::format("; a {} gains nothing", ordinal(found->threads + 1));
      }
      break;
    case Tuning::Outcome::at_limit:
      text = fmt::format("{}, the limit, give{} the most images/s", threads, verb_end);
      if (tuning.is_need_known()) {
        text += fmt::format("; the consumer needs {:.2g}", tuning.need);
      }
      break;
    case Tuning::Outcome::no_gain:
      text = fmt::format("{} give{} as many images/s as more do: the bottleneck is elsewhere",
                         threads, verb_end);
      break;
  }
  return tuning.settled ? text : text + " (the search had not ended)";
}

std::string loader_threads(unsigned threads, std::string_view worker) {
  return threads == 0 ? fmt::format("no {}s", worker) : counted(threads, worker);
}

std::string times(double factor) {
  return fmt::format("{:.{}f} times", factor, factor < 10 ? 1 : 0);
}

}  // namespace feedrate::tools
