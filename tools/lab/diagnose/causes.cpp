#include "tools/lab/diagnose/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tools/console/text.h"

namespace feedrate::tools {

namespace {

constexpr double waits = 0.1;            // share of the time, from which the loader is the limit
constexpr double worth_it = 1.1;         // a gain that is no error of measurement
constexpr double least_gain = 1.05;      // below it, a cause is not worth a line
constexpr double main_part = 0.3;        // of a batch
constexpr double seconds_of_import = 1;  // beside torch, which every worker needs
constexpr double many_tensors = 32;      // in a batch; two are usual
constexpr double some_bytes = 4096;      // read in a batch, beside the probe's own
constexpr std::array<std::string_view, 15> names{"decoding",
                                                 "transform",
                                                 "your-code",
                                                 "too-few-workers",
                                                 "more-workers-than-cores",
                                                 "workers-restarted",
                                                 "slow-spawn",
                                                 "many-small-tensors",
                                                 "float32",
                                                 "pinning",
                                                 "slow-storage",
                                                 "slow-sample",
                                                 "slow-collate",
                                                 "model",
                                                 "format"};

std::string workers_text(std::uint64_t workers) { return counted(workers, "worker"); }

double per_step(const Loop& loop) {
  return loop.time / std::max(1.0, static_cast<double>(loop.counted));
}

/// How many times as fast the loop would be with other costs.
double gain_of(const Case& of, const Costs& then, std::uint64_t workers) {
  const double now = of.costs.delivered(of.loop.made.workers);
  return now > 0 ? std::max(1.0, then.delivered(workers) / now) : 1;
}
double gain_of(const Case& of, const Costs& then) {
  return gain_of(of, then, of.loop.made.workers);
}

double share_of(const Service& service, std::string_view stage) {
  double sum = 0;
  for (const Stage& one : service.stages) {
    if (one.name == stage) sum += service.alone(one);
  }
  return service.alone() > 0 ? sum / service.alone() : 0;
}

std::optional<Cause> starts(const Case& of) {
  const Loop& loop = of.loop;
  if (loop.made.workers == 0 || loop.started == 0 || loop.starts < 0.5 * loop.waited) return {};
  const double epochs = static_cast<double>(loop.started);
  const double saved = loop.starts - epochs * loop.service.median;
  const double gain = loop.time / std::max(0.01 * loop.time, loop.time - std::max(0.0, saved));
  const std::string start = duration_text(loop.starts / epochs);
  if (gain < worth_it) return {};
  // A new loader has new workers, whatever it is told.
  const bool keeps = loop.made.persistent && loop.times_made == 1;
  const std::string keep = loop.times_made == 1
                               ? "persistent_workers=True"
                               : "make it once, before the epochs, with persistent_workers=True";
  if (loop.made.start != "fork" && loop.imports >= seconds_of_import) {
    return Cause{
        .kind = CauseKind::slow_spawn,
        .what = fmt::format("Each worker starts by '{}' and imports for {}, beside torch, before "
                            "its first batch; an epoch waits {}.",
                            loop.made.start, duration_text(loop.imports), start),
        .gain = gain,
        .where = loop.made.where,
        .change = (keeps ? std::string() : keep + ", and ") +
                  (keeps ? "put the dataset into" : "the dataset in") +
                  " a module that imports little"};
  }
  if (keeps) return {};
  return Cause{.kind = CauseKind::workers_restarted,
               .what = fmt::format("{} start anew in each epoch, which then waits {} for its first "
                                   "batch.",
                                   workers_text(loop.made.workers), start),
               .gain = gain,
               .where = loop.made.where,
               .change = keep};
}

std::optional<Cause> pinning(const Case& of) {
  const Loop& loop = of.loop;
  if (loop.pin < 0.5 * per_step(loop)) return {};
  const double then = loop.samples / of.costs.delivered(loop.made.workers);
  const double gain = per_step(loop) / then;
  if (gain < worth_it) return {};
  return Cause{
      .kind = CauseKind::pinning,
      .what = fmt::format("One thread copies every batch into pinned memory, which takes {} of "
                          "a step's {}.",
                          duration_text(loop.pin), duration_text(per_step(loop))),
      .gain = gain,
      .where = loop.made.where,
      .change = "pin_memory=False"};
}

std::optional<Cause> many_small(const Case& of) {
  const Loop& loop = of.loop;
  const Service& service = loop.service;
  const double transport = service.put + loop.receive;
  if (loop.made.workers == 0 || service.tensors < many_tensors ||
      (transport < main_part * (service.alone() + transport) &&
       loop.receive < main_part * per_step(loop))) {
    return {};
  }
  Costs then = of.costs;
  then.put *= 2 / service.tensors;
  then.receive *= 2 / service.tensors;
  return Cause{
      .kind = CauseKind::many_small_tensors,
      .what = fmt::format("A batch has {:.0f} tensors; each goes to the loop by a file of its "
                          "own, {} of work for a batch.",
                          service.tensors, duration_text(transport)),
      .gain = gain_of(of, then),
      .where = loop.made.where,
      .change = "collate_fn: join them in one tensor, with their lengths in another"};
}

std::optional<Cause> more_than_cores(const Case& of) {
  const Loop& loop = of.loop;
  const auto workers = static_cast<double>(loop.made.workers);
  if (workers <= of.costs.cores || loop.service.delay < 0.25 * loop.service.wall) return {};
  Costs then = of.costs;
  then.cores = workers;
  return Cause{
      .kind = CauseKind::more_workers_than_cores,
      .what = fmt::format("{} share {}, and wait for one {} of their time. As many workers as "
                          "cores load as much; more cores load more.",
                          workers_text(loop.made.workers),
                          counted(static_cast<std::uint64_t>(of.costs.cores), "core"),
                          percent_text(loop.service.delay / loop.service.wall)),
      .gain = gain_of(of, then),
      .bound = true,
      .where = loop.made.where,
      .change = fmt::format("num_workers={:.0f}, or ask for {} cores", of.costs.cores,
                            loop.made.workers)};
}

std::optional<Cause> slow_sample(const Case& of) {
  const Loop& loop = of.loop;
  Costs others = of.costs;  // of the middle batch
  others.cpu = std::min(others.cpu, loop.service.median);
  others.blocked = loop.service.median - others.cpu;
  if (loop.made.workers == 0 || others.rate(loop.made.workers) < loop.demand() ||
      loop.service.outliers < 0.5 * (loop.waited - loop.starts)) {
    return {};
  }
  const double then = loop.samples / others.delivered(loop.made.workers);
  return Cause{
      .kind = CauseKind::slow_sample,
      .what =
          "The workers would do, but some batches take several times as long as the middle "
          "one, and all later ones wait for them: batches come in order.",
      .gain = std::max(1.0, per_step(loop) / then),
      .bound = true,
      .where = loop.made.where,
      .change = "in_order=False (PyTorch 2.6), or a larger prefetch_factor"};
}

std::optional<Cause> slow_storage(const Case& of) {
  const Service& service = of.loop.service;
  if (service.blocked < 0.5 * service.alone() || service.read < some_bytes) return {};
  double off = 0, reading = 0;
  for (const Stage& stage : service.stages) {
    off += std::max(0.0, stage.wall - stage.cpu);
    if (stage.name == "getitem" || stage.name == "decode") {
      reading += std::max(0.0, stage.wall - stage.cpu);
    }
  }
  if (reading < 0.6 * off) return {};
  Costs then = of.costs;
  then.blocked = 0;
  return Cause{.kind = CauseKind::slow_storage,
               .what = fmt::format(
                   "Reading a batch of {} waits {} for storage, {} of the time it takes "
                   "to make.",
                   bytes_text(static_cast<std::uint64_t>(service.read)),
                   duration_text(service.blocked), percent_text(service.blocked / service.alone())),
               .gain = gain_of(of, then),
               .bound = true,
               .where = of.loop.made.where,
               .change = "copy the data to a local disk; more workers hide the waits"};
}

std::optional<Cause> too_few(const Case& of) {
  const Loop& loop = of.loop;
  const bool waits_mostly = loop.service.blocked > 0.5 * loop.service.alone();
  const auto cores = static_cast<std::uint64_t>(std::max(1.0, std::ceil(of.costs.cores)));
  const std::uint64_t most = waits_mostly ? 4 * cores : cores;
  const std::uint64_t enough = enough_workers(of.costs, most);
  if (enough <= loop.made.workers) return {};
  const double gain = gain_of(of, of.costs, enough);
  if (gain < worth_it) return {};
  return Cause{.kind = CauseKind::too_few_workers,
               .what = fmt::format(
                   "{} made the batches; {} would load {} samples/s.",
                   loop.made.workers == 0 ? "The loop itself" : workers_text(loop.made.workers),
                   enough, quantity(of.costs.rate(enough))),
               .gain = gain,
               .where = loop.made.where,
               .change = fmt::format("num_workers={}", enough)};
}

std::optional<Cause> float32(const Case& of) {
  const Loop& loop = of.loop;
  const Service& service = loop.service;
  const double collate = share_of(service, "collate") * service.alone();
  const double moved = collate + service.put + loop.receive;
  if (loop.made.workers == 0 || loop.made.own_collate || service.bytes < 1e6 ||
      service.float_bytes < 0.5 * service.bytes ||
      moved < main_part * (service.alone() + service.put + loop.receive)) {
    return {};
  }
  constexpr double saved = 0.75;  // u8 is a quarter of float32
  Costs then = of.costs;
  then.cpu -= saved * collate;
  then.put *= 1 - saved;
  return Cause{
      .kind = CauseKind::float32,
      .what = fmt::format("Workers hand over {} of float32 a batch; as u8 it would be a "
                          "quarter, and the loop's device converts it faster.",
                          bytes_text(static_cast<std::uint64_t>(service.float_bytes))),
      .gain = gain_of(of, then),
      .bound = true,
      .where = loop.made.where,
      .change = "return uint8 images, and convert the batch in the loop: x.float().div(255)"};
}

Cause stage_cause(const Case& of, const Stage& stage) {
  const double cost = of.loop.service.alone(stage);
  Costs then = of.costs;
  const double off = std::min(then.blocked, std::max(0.0, cost - stage.cpu));
  then.blocked -= off;
  then.cpu = std::max(0.01 * then.cpu, then.cpu - stage.cpu);
  const std::string share = percent_text(cost / of.loop.service.alone());
  Cause cause{.gain = gain_of(of, then), .bound = true, .where = of.loop.made.where};
  const std::size_t colon = stage.name.find(':');
  const std::string_view kind = std::string_view(stage.name).substr(0, colon);
  if (kind == "decode") {
    cause.kind = CauseKind::decoding;
    cause.what = fmt::format("Decoding images takes {} of a sample's time.", share);
    cause.change = "'feedrate diagnose --swap' tries Feedrate's loader; or keep smaller images";
  } else if (kind == "transform") {
    cause.kind = CauseKind::transform;
    cause.what = fmt::format("The transform {} takes {} of a sample's time.",
                             stage.name.substr(colon + 1), share);
    cause.change =
        "do it on the batch in the loop; 'feedrate diagnose --swap' says whether Feedrate has it";
  } else if (kind == "own") {
    const std::size_t place = stage.name.find(':', colon + 1);
    cause.kind = CauseKind::transform;
    cause.what = fmt::format("Your transform {} takes {} of a sample's time.",
                             stage.name.substr(colon + 1, place - colon - 1), share);
    cause.where = stage.name.substr(place + 1);
    cause.change = "make it faster, or do it once and keep the result";
  } else if (kind == "collate") {
    cause.kind = CauseKind::slow_collate;
    cause.what =
        fmt::format("Collating ({}) takes {} of a batch's time.", of.loop.made.collate, share);
    cause.change = "torch.stack of tensors of one size is fast; do the rest for each sample";
  } else {
    cause.kind = CauseKind::your_code;
    cause.what = fmt::format(
        "The dataset's own code ({}.__getitem__), without decoding and transforms, "
        "takes {} of a sample's time.",
        of.loop.made.dataset, share);
    cause.change = "make it faster, or do it once and keep the result";
  }
  return cause;
}

std::vector<Cause> stages(const Case& of) {
  const Service& service = of.loop.service;
  std::vector<const Stage*> large;
  for (const Stage& stage : service.stages) {
    if (service.alone(stage) >= main_part * service.alone()) large.push_back(&stage);
  }
  std::ranges::sort(large, std::greater{},
                    [&](const Stage* stage) { return service.alone(*stage); });
  std::vector<Cause> found;
  for (const Stage* stage : large) found.push_back(stage_cause(of, *stage));
  return found;
}

std::optional<Cause> format_is_none(const Case& of) {
  const Service& service = of.loop.service;
  if (service.stages.empty()) return {};
  const double read =
      share_of(service, "decode") + (service.alone() > 0 ? service.blocked / service.alone() : 0);
  if (read > waits) return {};
  return Cause{
      .kind = CauseKind::format,
      .what = fmt::format("Another format of the data would make no difference: waiting for "
                          "storage and decoding are {} of a sample's time.",
                          percent_text(read))};
}

}  // namespace

std::string times_text(double times) {
  constexpr double whole = 100;  // from which "{:.2g}" has an exponent
  return times < whole - 0.5 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string_view name(CauseKind kind) { return names[static_cast<std::size_t>(kind)]; }

std::string gain_text(const Cause& cause) {
  constexpr double visible = 1.02;
  if (cause.kind == CauseKind::model || cause.gain <= visible) return {};
  return fmt::format(" Without it, the loop is {}{} times as fast.", cause.bound ? "at most " : "",
                     times_text(cause.gain));
}

std::string sentences(const Cause& cause) {
  std::string text = cause.what + gain_text(cause);
  if (cause.change.empty()) return text;
  const std::string place = cause.where.substr(cause.where.rfind('/') + 1);
  return text + fmt::format(" {}: {}.", place.empty() ? "To do" : place, cause.change);
}

namespace {

std::vector<Cause> unbounded_causes(const Case& of) {
  std::vector<Cause> found;
  if (of.loop.counted == 0) return found;
  if (of.loop.wait_share() < waits) {
    found.push_back(
        {.kind = CauseKind::model,
         .what = fmt::format("The model is the limit: the loop waits for data {} of its "
                             "time. Leave the loader alone.",
                             percent_text(of.loop.wait_share()))});
    return found;
  }
  if (of.loop.swap.made) return found;  // what the others are about is not there
  const auto add = [&](std::optional<Cause> cause) {
    if (cause) found.push_back(*std::move(cause));
    return cause.has_value();
  };
  if (add(starts(of))) return found;
  add(pinning(of));
  add(many_small(of));
  add(more_than_cores(of));
  if (found.empty() && add(slow_sample(of))) return found;
  const bool storage = add(slow_storage(of));
  const bool floats = add(float32(of));
  add(too_few(of));
  for (Cause& cause : stages(of)) {
    const bool said =
        (storage && (cause.kind == CauseKind::your_code || cause.kind == CauseKind::decoding)) ||
        (floats && cause.kind == CauseKind::slow_collate);
    if (!said) found.push_back(std::move(cause));
  }
  std::erase_if(found, [](const Cause& cause) { return cause.gain < least_gain; });
  if (!found.empty() && !storage) add(format_is_none(of));
  return found;
}

}  // namespace

std::vector<Cause> causes_of(const Case& of) {
  std::vector<Cause> found = unbounded_causes(of);
  // No loader can save more than the waits, whatever the costs foretell.
  const double most = 1 / std::max(0.001, 1 - of.loop.wait_share());
  for (Cause& cause : found) cause.gain = std::min(cause.gain, most);
  return found;
}

}  // namespace feedrate::tools
