#include "tools/lab/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

using nlohmann::ordered_json;

constexpr std::size_t name_columns = 32;
constexpr std::size_t page_columns = 100;

std::string plus_minus(double doubt) { return fmt::format("± {:.0f} %", std::ceil(100 * doubt)); }

bool is_fed(const Prediction& prediction) { return prediction.verdict.limit == Limit::trainer; }

std::string limit(const Advice& advice) {
  const Prediction& now = advice.now;
  if (!std::isfinite(advice.consumer.demand)) {
    return fmt::format("With {} it delivers {} images/s; the limit is {}.",
                       loader_threads(now.threads), quantity(now.delivered),
                       name(now.verdict.limit));
  }
  return fmt::format("With {} it delivers {} images/s of the {} that {} can take. {}",
                     loader_threads(now.threads), quantity(now.delivered),
                     quantity(advice.consumer.demand), advice.consumer_name,
                     verdict_text(now.verdict));
}

std::string gain(const Advice& advice, const Alternative& best) {
  const double share =
      1 - static_cast<double>(best.variant.bytes) /
              static_cast<double>(std::max<std::uint64_t>(1, advice.present.bytes));
  const Prediction& then = best.prediction;
  const std::string fed = is_fed(then) ? ", all it takes," : ",";
  const std::string doubt = then.doubt > 0 ? fmt::format(" ({})", plus_minus(then.doubt)) : "";
  return fmt::format(
      "As {} it would deliver {}{}{} {} as many, on {}, in {} ({:.0f} % {}). Converting takes "
      "about "
      "{}:",
      best.variant.name, quantity(then.delivered), doubt, fed,
      times(then.delivered / advice.now.delivered), loader_threads(then.threads),
      bytes_text(best.variant.bytes), 100 * std::abs(share), share >= 0 ? "less" : "more",
      duration_text(best.convert_seconds));
}

std::string stages(const Supply& supply) {
  const double busy = supply.read + supply.decode + supply.augment;
  const auto percent = [&](double part) { return busy > 0 ? 100 * part / busy : 0; };
  return fmt::format("fetch {:.0f} %, decode {:.0f} %, augment {:.0f} %", percent(supply.read),
                     percent(supply.decode), percent(supply.augment));
}

std::string row(const Variant& variant, const Prediction& prediction,
                const std::string& conversion) {
  return fmt::format("{} {:>12} {:>6} {:>8} {:>12} {:>11} {:>10}\n",
                     fitted(variant.name, name_columns), quantity(prediction.delivered),
                     plus_minus(prediction.doubt), prediction.threads, quantity(prediction.supply),
                     bytes_text(variant.bytes), conversion);
}

/// "slower", "no faster than 2"; "" for the number that was chosen.
std::string outcome(const Considered& one, const Prediction& prediction) {
  if (one.outcome == Considered::Outcome::chosen) return {};
  if (one.outcome == Considered::Outcome::no_faster) {
    return fmt::format("no faster than {}", prediction.threads);
  }
  return "slower";
}

/// Of many thread counts the powers of two, the chosen one and those next to it, and the last.
bool is_shown(unsigned threads, const Prediction& prediction) {
  constexpr unsigned all_up_to = 8;
  const unsigned last = prediction.curve.back().threads;
  return last <= all_up_to || threads == 0 || std::has_single_bit(threads) || threads == last ||
         (threads + 1 >= prediction.threads && threads <= prediction.threads + 1);
}

std::string curve_text(const Prediction& prediction) {
  std::string text = fmt::format("  threads {:>12} {:>12}\n", "supply/s", "delivered/s");
  for (const Considered& one : prediction.curve) {
    if (!is_shown(one.threads, prediction)) continue;
    const bool chosen = one.outcome == Considered::Outcome::chosen;
    const std::string reason = outcome(one, prediction);
    text += fmt::format("{} {:>7} {:>12} {:>12}{}{}\n", chosen ? "→" : " ", one.threads,
                        quantity(one.supply), quantity(one.delivered), reason.empty() ? "" : "  ",
                        reason);
  }
  return text;
}

ordered_json number(double value, int digits) {
  return null_unless<ordered_json>(std::isfinite(value), rounded(value, digits));
}

ordered_json as_json(const Supply& supply) {
  return {{"threads", supply.threads},
          {"repeats", supply.rates},
          {"images_per_second", number(supply.rate(), 1)},
          {"fetch_s_per_image", supply.read},
          {"decode_s_per_image", supply.decode},
          {"augment_s_per_image", supply.augment}};
}

ordered_json as_json(const Prediction& prediction) {
  ordered_json curve = ordered_json::array();
  for (const Considered& one : prediction.curve) {
    curve.push_back({{"threads", one.threads},
                     {"supply", number(one.supply, 1)},
                     {"delivered", number(one.delivered, 1)},
                     {"ruled_out", or_null<ordered_json>(outcome(one, prediction))}});
  }
  return curve;
}

ordered_json as_json(const Variant& variant, const Prediction& prediction) {
  return {{"kept_as", variant.name},
          {"bytes", variant.bytes},
          {"threads", prediction.threads},
          {"supply", number(prediction.supply, 1)},
          {"delivered", number(prediction.delivered, 1)},
          {"doubt_percent", number(100 * prediction.doubt, 1)},
          {"limit", name(prediction.verdict.limit)},
          {"curve", as_json(prediction)},
          {"one_thread", as_json(variant.at_min)},
          {"most_threads", as_json(variant.at_max)}};
}

}  // namespace

const Alternative* Advice::best() const {
  const auto better = [](const Alternative& a, const Alternative& b) {
    const double ratio = a.prediction.delivered / b.prediction.delivered;
    if (std::abs(ratio - 1) > min_tolerance) return ratio > 1;
    if (a.prediction.threads != b.prediction.threads)
      return a.prediction.threads < b.prediction.threads;
    return a.variant.bytes < b.variant.bytes;
  };
  const Alternative* found = nullptr;
  for (const Alternative& one : alternatives) {
    const double doubt = std::max(min_tolerance, std::hypot(one.prediction.doubt, now.doubt));
    if (!one.fits || one.prediction.delivered < now.delivered * (1 + doubt)) continue;
    if (found == nullptr || better(one, *found)) found = &one;
  }
  return found;
}

std::string Advice::text() const {
  const Alternative* const best = this->best();
  std::string text = wrapped(limit(*this), 0, page_columns) + "\n";
  if (best != nullptr) {
    text += fmt::format("{}\n  {}\n", wrapped(gain(*this, *best), 0, page_columns), best->command);
  } else {
    text += is_fed(now) ? "No other format would deliver more.\n"
                        : "No conversion that was tried would deliver clearly more.\n";
  }
  text += fmt::format("\n{}: {}, recipe {}, batches of {}\n", dataset, counted(images, "image"),
                      recipe, batch);
  text += fmt::format("one thread gives {} images/s", quantity(present.at_min.rate()));
  if (present.at_max.threads > 1) {
    text += fmt::format(", {} give {}", present.at_max.threads, quantity(present.at_max.rate()));
  }
  text += fmt::format(": {}\n\n", stages(present.at_max));
  text += curve_text(now);
  text += fmt::format("More than {} not considered: there {} {}.\n\n",
                      present.at_max.threads == 1
                          ? "one thread was"
                          : fmt::format("{} threads were", present.at_max.threads),
                      consumer.cores == 1 ? "is" : "are", counted(consumer.cores, "core"));
  text +=
      fmt::format("{} {:>12} {:>5} {:>8} {:>12} {:>11} {:>10}\n", fitted("kept as", name_columns),
                  "delivered/s", "", "threads", "supply/s", "size", "converting");
  text += row(present, now, "-");
  for (const Alternative& one : alternatives) {
    text += row(one.variant, one.prediction, duration_text(one.convert_seconds));
  }
  if (!std::ranges::all_of(alternatives, &Alternative::fits)) {
    text +=
        "Formats larger than the memory are not advised, since the disk's speed was not "
        "measured.\n";
  }
  return text;
}

std::string Advice::json() const {
  ordered_json object{{"dataset", dataset},
                      {"images", images},
                      {"recipe", recipe},
                      {"batch", batch},
                      {"consumer", or_null<ordered_json>(consumer_name)},
                      {"demand", number(consumer.demand, 1)},
                      {"shares_cores", consumer.shares_cores},
                      {"now", as_json(present, now)}};
  ordered_json others = ordered_json::array();
  for (const Alternative& one : alternatives) {
    ordered_json other = as_json(one.variant, one.prediction);
    other["convert_seconds"] = number(one.convert_seconds, 2);
    other["command"] = one.command;
    other["fits_memory"] = one.fits;
    others.push_back(std::move(other));
  }
  object["alternatives"] = std::move(others);
  const Alternative* const best = this->best();
  object["advised"] = or_null<ordered_json>(best != nullptr ? best->variant.name : "");
  return json_text(object);
}

}  // namespace feedrate::tools
