#include "tools/lab/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tools/console/bars.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/advise/published_rate_fields.h"
#include "tools/lab/advise/server_fields.h"
#include "tools/lab/measure/contention.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

std::string plus_minus(double doubt) { return fmt::format("± {:.0f} %", std::ceil(100 * doubt)); }

bool is_fed(const Prediction& prediction) { return prediction.verdict.limit == Limit::trainer; }

/// CPU cores that the loader keeps busy at this rate.
double cores_at(const Variant& variant, double rate) { return rate * variant.at_max.cpu_cost(); }

/// A trainer on the loader's own cores, or the rate or device that is to be fed.
std::string whom(const Advice& advice) {
  if (advice.consumer_name == "--target") return quantity(advice.consumer.demand) + " images/s";
  return fmt::format("{} ({} images/s)", advice.consumer_name, quantity(advice.consumer.demand));
}

/// How many threads are enough or, where none are, how many cores.
std::string answer(const Advice& advice) {
  const Prediction& now = advice.now;
  const double demand = advice.consumer.demand;
  if (!std::isfinite(demand)) {
    return fmt::format("{} supply {} images/s. --target RATE says how many a rate takes.",
                       capitalized(loader_threads(now.threads)), quantity(now.delivered));
  }
  if (is_fed(now)) {
    return fmt::format("{} for {}: loading takes {}.", enough_threads_text(now.threads),
                       whom(advice), cores_taken_text(cores_at(advice.present, demand)));
  }
  std::vector<NeededCores> needed{{cores_at(advice.present, demand), advice.present.name}};
  for (const Alternative& one : advice.alternatives) {
    if (one.fits) needed.push_back({cores_at(one.variant, demand), one.variant.name});
  }
  const bool waits = waits_for_data(now.verdict.limit);
  return unfed_text(now.delivered / demand, whom(advice),
                    waits ? std::vector<NeededCores>{} : needed);
}

/// Why, where that is not said yet.
std::string reason(const Advice& advice) {
  const Prediction& now = advice.now;
  std::string text =
      is_fed(now) || !std::isfinite(advice.consumer.demand) ? "" : verdict_text(now.verdict);
  if (const auto ran = advice.present.at_max.ran_while_crowded()) {
    text += fmt::format("{}{}. These numbers therefore follow from CPU time per image.",
                        text.empty() ? "" : " ", capitalized(contention_text(*ran, *ran)));
  }
  return text;
}

std::string gain(const Advice& advice, const Alternative& best) {
  const double share =
      1 - static_cast<double>(best.variant.bytes) /
              static_cast<double>(std::max<std::uint64_t>(1, advice.present.bytes));
  const Prediction& then = best.prediction;
  const std::string doubt = then.doubt > 0 ? fmt::format(" ({})", plus_minus(then.doubt)) : "";
  return fmt::format(
      "Converted to {}, it would deliver {} images/s{} with {}: {} as many{}. The dataset would "
      "take {} "
      "({:.0f} % {}); converting it takes about {}:",
      best.variant.name, quantity(then.delivered), doubt, loader_threads(then.threads),
      times(then.delivered / advice.now.delivered),
      is_fed(then) ? ", and all that is asked for" : "", bytes_text(best.variant.bytes),
      100 * std::abs(share), share >= 0 ? "less" : "more", duration_text(best.convert_seconds));
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
                     fitted(variant.name, advice_name_columns), quantity(prediction.delivered),
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
  std::string text = feeding_text() + wrapped(answer(*this), 0, advice_page_columns) + "\n";
  if (best != nullptr) {
    text += fmt::format("{}\n  {}\n", wrapped(gain(*this, *best), 0, advice_page_columns),
                        best->command);
  } else {
    text += is_fed(now) ? "No conversion is needed.\n"
                        : "No conversion that was tried would deliver clearly more.\n";
  }
  if (const std::string why = reason(*this); !why.empty()) {
    text += wrapped(why, 0, advice_page_columns) + "\n";
  }
  if (reading) text += "\n" + wrapped(reading->text(), 0, advice_page_columns) + "\n";
  if (bill) text += "\n" + wrapped(bill->text(), 0, advice_page_columns) + "\n";
  text += fmt::format("\n{}: {}, recipe {}, batches of {}\n", dataset, counted(images, "image"),
                      recipe, batch);
  text += fmt::format("one thread gives {} images/s", quantity(present.at_min.rate()));
  if (present.at_max.threads > 1) {
    text += fmt::format(", {} give {}", present.at_max.threads, quantity(present.at_max.rate()));
  }
  text += fmt::format(": {}\n\n", stages(present.at_max));
  text += curve_text(now);
  text += fmt::format("This machine has {}, so more than {} {} not considered.\n\n",
                      counted(consumer.cores, "core"), counted(present.at_max.threads, "thread"),
                      present.at_max.threads == 1 ? "was" : "were");
  text += fmt::format("{} {:>12} {:>5} {:>8} {:>12} {:>11} {:>10}\n",
                      fitted("kept as", advice_name_columns), "delivered/s", "", "threads",
                      "supply/s", "size", "converting");
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

template <>
inline constexpr Heading heading_of<Supply>{"supply", "What a loader alone was measured to do."};

template <class Field>
void for_each_field(const Supply& supply, const Field& field) {
  const auto of_worker = [&](const char* key, double seconds, std::string_view meaning) {
    field(key, seconds, {meaning, Unit{"s"}});
  };
  field("threads", supply.threads, {"of the loader"});
  field("repeats", supply.rates, {"one for each round", Unit{"images/s"}});
  field("images_per_second", supply.rates.empty() ? 0 : supply.rate(),
        {"their median", Unit{"images/s"}, Digits{1}});
  of_worker("fetch_s_per_image", supply.read, "of a worker, to read an image");
  of_worker("decode_s_per_image", supply.decode, "of a worker, to decode it");
  of_worker("augment_s_per_image", supply.augment, "of a worker, to resize and augment it");
}

namespace {

struct Tried {
  Considered considered;
  std::string outcome;
};

struct Predicted {
  Variant variant;
  Prediction prediction;
};

}  // namespace

template <class Field>
void for_each_field(const Tried& tried, const Field& field) {
  field("threads", tried.considered.threads, {"0: the trainer loads"});
  field("supply", tried.considered.supply,
        {"predicted from those measured", Unit{"images/s"}, Digits{1}});
  field("delivered", tried.considered.delivered,
        {"predicted from those measured", Unit{"images/s"}, Digits{1}});
  field("ruled_out", unless_empty(tried.outcome),
        {"why not this number: `slower` than the best, or `no faster than` the chosen one",
         Null{"chosen"}});
}

template <>
inline constexpr Heading heading_of<Predicted>{
    "variant", "The images in one format, and what is predicted of them."};

template <class Field>
void for_each_field(const Predicted& predicted, const Field& field) {
  const Variant& variant = predicted.variant;
  const Prediction& prediction = predicted.prediction;
  std::vector<Tried> curve;
  for (const Considered& one : prediction.curve) curve.push_back({one, outcome(one, prediction)});
  field("kept_as", variant.name, {"format, codec, size: `lmdb raw short:256`"});
  field("bytes", variant.bytes, {"of the whole dataset"});
  field("threads", prediction.threads,
        {"the fewest that deliver as much as the best: within the spread of the repeats, but 3 % "
         "at least and 10 % at most. 0: the trainer loads"});
  field("supply", prediction.supply,
        {"with that many threads, predicted", Unit{"images/s"}, Digits{1}});
  field("delivered", prediction.delivered,
        {"to the consumer, predicted", Unit{"images/s"}, Digits{1}});
  field("doubt_percent", 100 * prediction.doubt,
        {"uncertainty of `delivered`, ±", Unit{"%"}, Digits{1}});
  field("limit", name(prediction.verdict.limit), {"what would limit it"});
  field("curve", curve, {"every number of threads that was considered: up to one for each core"});
  field("one_thread", variant.at_min, {"measured with one thread"});
  field("most_threads", variant.at_max, {"measured with the largest number allowed"});
}

template <>
inline constexpr Heading heading_of<Alternative>{"alternative", "A variant that was tried."};

template <class Field>
void for_each_field(const Alternative& one, const Field& field) {
  for_each_field(Predicted{one.variant, one.prediction}, field);
  field("convert_seconds", one.convert_seconds,
        {"time to convert all images", Unit{"s"}, Digits{2}});
  field("command", one.command, {"the command that converts"});
  field("fits_memory", one.fits,
        {"whether it fits into the machine's memory, or the dataset itself does not"});
}

namespace {

/// The cores for one variant.
struct Fed {
  std::string kept_as;
  Cores cores;
};

struct FedAll {
  Feeding feeding;
  std::vector<Fed> variants;
};

FedAll fed_all(const Advice& advice) {
  FedAll all{*advice.feeding, {}};
  const auto add = [&](const Variant& variant) {
    all.variants.push_back({variant.name, cores_for(all.feeding, variant, advice.images)});
  };
  add(advice.present);
  for (const Alternative& one : advice.alternatives) add(one.variant);
  return all;
}

}  // namespace

template <class Field>
void for_each_field(const Permit& permit, const Field& field) {
  field("part", std::string(permit.part), {"`cores`, `memory bandwidth`, `storage`, `network`"});
  field("images_per_second", permit.images_per_second,
        {"that it permits", Unit{"images/s"}, Digits{1}});
  field("at_least", permit.at_least,
        {"whether it may permit more: memory that these cores do not saturate, a network that was "
         "not waited for"});
  field("bytes_per_second", permit.per_second,
        {"measured here", Unit{"B/s"}, Null{"of cores"}, Digits{0}});
  field("bytes_per_image", only_if(permit.per_second.has_value(), permit.per_image),
        {"that an image moves there at least", Unit{"B"}, Null{"of cores"}, Digits{0}});
  field("always", permit.always, {"whether in every epoch, not in the first one alone"});
}

template <class Field>
void for_each_field(const Fed& fed, const Field& field) {
  field("kept_as", fed.kept_as, {"format, codec, size"});
  field("cores", fed.cores.likely, {"of this machine's kind, for the loader"});
  field("fewest_cores", fed.cores.fewest, {"if all doubts are in its favour"});
  field("most_cores", fed.cores.most,
        {"if all are not", Null{"then no number of them is known to be enough"}});
  field("read_bytes_per_second", fed.cores.bytes_per_second,
        {"from memory or storage", Unit{"B/s"}, Digits{0}});
}

template <>
inline constexpr Heading heading_of<FedAll>{
    "feeding", "What devices that are not here need from cores like this machine's."};

template <class Field>
void for_each_field(const FedAll& all, const Field& field) {
  const DeviceDemand& demand = all.feeding.demand;
  field("devices", demand.devices.count, {"to be fed"});
  field("demand", demand.images_per_second, {"of all together", Unit{"images/s"}, Digits{1}});
  field("estimated", demand.estimate.has_value(),
        {"whether nobody published it, so that it follows from other networks or devices"});
  const std::optional<Estimate>& estimate = demand.estimate;
  field("estimate_like", estimate ? std::optional(estimate->like) : std::nullopt,
        {"the rate of the most similar network, that it follows from, too",
         Null{"it was published"}});
  field("estimate_doubt", estimate ? std::optional(estimate->doubt) : std::nullopt,
        {"it may be so many times as large, or so many times smaller", Null{"it was published"},
         Digits{2}});
  field("rate", demand.from, {"the rate that it follows from"});
  field("hidden_cores_error_percent",
        only_if(all.feeding.hidden_cores_error.has_value(),
                100 * all.feeding.hidden_cores_error.value_or(0)),
        {"how much too high the rate of all cores is, predicted from half of them with the others "
         "hidden",
         Unit{"%"}, Null{"none could be hidden"}, Digits{1}});
  field("hidden_cores_in_range", all.feeding.range_held,
        {"whether the range of cores that was told so for that rate has all of them in it",
         Null{"none could be hidden"}});
  field(
      "kernel_percent", 100 * all.feeding.kernel_share,
      {"of the processor time of an image as it is, in the kernel, which may serve one thread at a "
       "time",
       Unit{"%"}, Digits{1}});
  const Permit* const first = first_limit(all.feeding.permits, demand.images_per_second);
  field("first_limit", unless_empty(std::string(first == nullptr ? "" : first->part)),
        {"the `part` of `permits` that would hold up the devices first, in every epoch",
         Null{"none is known to"}});
  field("permits", all.feeding.permits,
        {"what each part of this machine permits of the images as they are, the smallest first"});
  field("variants", all.variants, {"the dataset as it is, then the alternatives"});
}

template <>
inline constexpr Heading heading_of<Advice>{"advise", "What `feedrate advise` prints."};

template <class Field>
void for_each_field(const Advice& advice, const Field& field) {
  const double demand = advice.consumer.demand;
  const Alternative* const best = advice.best();
  field("dataset", advice.dataset, {"as given"});
  field("images", advice.images, {"in the dataset"});
  field("recipe", advice.recipe, {"augmentation"});
  field("batch", advice.batch, {"images in a batch"});
  field("consumer", unless_empty(advice.consumer_name),
        {"`lenet on cpu`, `--target`", Null{"neither was given"}});
  field(
      "demand", only_if(std::isfinite(demand), demand),
      {"rate that the consumer can take", Unit{"images/s"}, Null{"nothing limits it"}, Digits{1}});
  field("shares_cores", advice.consumer.shares_cores,
        {"whether the trainer runs on the loader's cores"});
  field("feeding", advice.feeding ? std::optional(fed_all(advice)) : std::nullopt,
        {"what --for asks", Null{"it was not given"}});
  field("reading", advice.reading, {"how to read it", Null{"the dataset is on this machine"}});
  field("bill", advice.bill,
        {"what an epoch asks of the server", Null{"the dataset is on this machine"}});
  field("now", Predicted{advice.present, advice.now}, {"the dataset as it is"});
  field("alternatives", advice.alternatives, {"conversions that were tried on some images"});
  field("advised", unless_empty(best != nullptr ? best->variant.name : ""),
        {"`kept_as` of the best alternative", Null{"no gain is larger than its uncertainty"}});
}

Description describe_advise() { return description_of(Advice{}); }

std::string Advice::json() const { return json_text_of(*this); }

}  // namespace feedrate::tools
