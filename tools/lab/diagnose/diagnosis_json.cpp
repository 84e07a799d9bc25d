#include <fmt/format.h>

#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/diagnose/diagnosis.h"

namespace feedrate::tools {

template <class Field>
void for_each_field(const Cause& cause, const Field& field) {
  field("cause", name(cause.kind),
        {"one of a closed list: `decoding`, `too-few-workers`, `model` …"});
  field("what", cause.what, {"for people"});
  field("gain", cause.gain, {"how many times as fast the loop would be without it", Digits{2}});
  field("at_most", cause.bound,
        {"whether the gain is a bound: the part would take no time at all"});
  field("where", unless_empty(cause.where),
        {"file and line to change", Null{"nowhere in particular"}});
  field("change", unless_empty(cause.change), {"what to write there", Null{"nothing"}});
}

template <class Field>
void for_each_field(const Stage& stage, const Field& field) {
  field(
      "stage", stage.name,
      {"`decode`, `transform:NAME`, `own:NAME:FILE:LINE`, `collate`; `getitem` is the rest of the "
       "dataset's code"});
  field("seconds", stage.wall, {"of a batch, without the stages inside", Unit{"s"}});
  field("cpu_seconds", stage.cpu, {"of that, on a processor", Unit{"s"}});
}

template <class Field>
void for_each_field(const CurvePoint& point, const Field& field) {
  field("workers", point.workers, {"0: the loop loads"});
  field("predicted", point.predicted,
        {"rate of the loader alone, from what a batch costs one worker", Unit{"samples/s"},
         Digits{1}});
  field("measured", point.measured,
        {"the same, by the sweep", Unit{"samples/s"}, Null{"was not swept"}, Digits{1}});
}

template <class Field>
void for_each_field(const SlowestRank& slowest, const Field& field) {
  field("rank", slowest.rank, {"RANK of its process"});
  field("ranks", slowest.ranks, {"that were seen"});
  field("wait_share", slowest.wait_share,
        {"of its time, waiting for data", Unit{"share"}, Digits{4}});
  field("others_wait_share", slowest.others_wait_share,
        {"of the others' time, the mean", Unit{"share"}, Digits{4}});
  field("cause", slowest.cause ? std::optional(std::string(name(*slowest.cause))) : std::nullopt,
        {"why it waits, of the closed list", Null{"none of the list explains it"}});
}

template <class Field>
void for_each_field(const Restarted& restarted, const Field& field) {
  field("workers", restarted.workers, {"num_workers, in place of the script's"});
  field("predicted", restarted.predicted,
        {"rate of the loop, from the costs of a batch and a step", Unit{"samples/s"}, Digits{1}});
  field("delivered", restarted.delivered,
        {"the same, measured", Unit{"samples/s"}, Null{"see `problem`"}, Digits{1}});
  field("wait_share", restarted.wait_share,
        {"of the time, waiting for data", Unit{"share"}, Null{"see `problem`"}, Digits{4}});
  field("problem", unless_empty(restarted.problem),
        {"why nothing was measured", Null{"it was measured"}});
}

/// A loop's loader that Feedrate's was to replace.
struct SwapOf {
  SwapSeen seen{};
  std::optional<double> before{}, after{};  // rates
};

SwapOf swap_of(const Loop& loop) {
  SwapOf swap{.seen = loop.swap};
  if (loop.samples <= 0) return swap;
  if (loop.swap.before) swap.before = loop.rate(*loop.swap.before);
  if (loop.swap.after) swap.after = loop.rate(*loop.swap.after);
  return swap;
}

template <class Field>
void for_each_field(const SwapOf& of, const Field& field) {
  const SwapSeen& swap = of.seen;
  const bool compared = swap.pixels.has_value();
  const PixelsDiffer pixels = swap.pixels.value_or(PixelsDiffer{});
  field("swapped", swap.made.has_value(), {"whether Feedrate's loader took its place"});
  field("left", unless_empty(swap.left), {"why it did not", Null{"it did"}});
  field("threads", only_if(swap.made.has_value(), swap.made.value_or(Swapped{}).threads),
        {"of Feedrate's loader", Null{"it was not replaced"}});
  field("data", unless_empty(swap.made.value_or(Swapped{}).data),
        {"what Feedrate's loader reads", Null{"it was not replaced"}});
  field("supply_before", of.before,
        {"rate of the script's own loader alone", Unit{"samples/s"}, Null{"not measured"},
         Digits{1}});
  field("supply_after", of.after,
        {"rate of Feedrate's alone", Unit{"samples/s"}, Null{"not measured"}, Digits{1}});
  field(
      "pixels_largest", only_if(compared, pixels.largest),
      {"largest difference between the pixels of both, 0 … 255", Null{"not compared"}, Digits{4}});
  field("pixels_mean", only_if(compared, pixels.mean),
        {"mean difference", Null{"not compared"}, Digits{4}});
  field("pixels_samples", only_if(compared, pixels.samples),
        {"samples that were compared", Null{"not compared"}});
  field("not_compared", pixels.left_out, {"parts of the recipe that both went without"});
  field("stand_ins", swap.stood_in.count,
        {"samples that Feedrate's loader could not decode and the script's own code did"});
  field("notes", swap.made.value_or(Swapped{}).notes, {"what is otherwise, as sentences"});
}

template <class Field>
void for_each_field(const Loop& loop, const Field& field) {
  const Service& service = loop.service;
  const bool made = service.batches > 0;
  field("dataset", loop.made.dataset, {"its type"});
  field("where", unless_empty(loop.made.where),
        {"file and line where the loader was made", Null{"not known"}});
  field("rank", loop.rank, {"RANK of the process", Null{"is not set"}});
  field("workers", loop.made.workers, {"num_workers"});
  field("start_method", unless_empty(loop.made.start),
        {"`fork`, `spawn` or `forkserver`", Null{"no workers"}});
  field("batch", loop.samples, {"samples in a batch, the mean", Digits{1}});
  field("steps", loop.steps, {"in all"});
  field("wait_share", loop.wait_share(),
        {"of the time, waiting for data", Unit{"share"}, Digits{4}});
  field("start_share", loop.time > 0 ? loop.starts / loop.time : 0,
        {"of the time, waiting for the first batch of an epoch", Unit{"share"}, Digits{4}});
  field("other_loops_seconds", loop.others,
        {"inside its steps, in loops over other loaders or in waiting for their batches; no figure "
         "counts them",
         Unit{"s"}});
  field("delivered", loop.delivered(), {"rate of the loop", Unit{"samples/s"}, Digits{1}});
  field("demand", only_if(loop.step > 0, loop.demand()),
        {"rate that it could take: without its waits", Unit{"samples/s"}, Null{"no step was whole"},
         Digits{1}});
  field("unwaited_steps", loop.unwaited,
        {"that did not wait, from which `demand` is; 0: from all, the mean"});
  field("batch_seconds", only_if(made, service.wall),
        {"to make a batch, the mean", Unit{"s"}, Null{"not seen"}});
  field("batch_cpu_seconds", only_if(made, service.cpu),
        {"of that, on a processor", Unit{"s"}, Null{"not seen"}});
  field("batch_delay_seconds", only_if(made, service.delay),
        {"of that, waiting for a processor", Unit{"s"}, Null{"not seen"}});
  field("batch_read_bytes", only_if(made, service.read),
        {"read for a batch", Unit{"bytes"}, Null{"not seen"}, Digits{0}});
  field("stages", service.stages, {"what making a batch consists of, the largest first"});
  const bool asked = loop.swap.made || !loop.swap.left.empty();
  field("swap", only_if(asked, swap_of(loop)), {"what came of --swap", Null{"was not asked for"}});
}

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += ' ';
    all += shell_word(word);
  }
  return all;
}

std::optional<std::string> limit_of(const Diagnosis& found) {
  if (!found.problem.empty()) return std::nullopt;
  const bool model = !found.causes.empty() && found.causes.front().kind == CauseKind::model;
  return model ? "model" : "loader";
}

}  // namespace

template <>
inline constexpr Heading heading_of<Diagnosis>{"diagnose", "What `feedrate diagnose` prints."};

template <class Field>
void for_each_field(const Diagnosis& found, const Field& field) {
  field("command", joined(found.command), {"that was run"});
  field("exit_code", found.code, {"its own"});
  field("cores", found.cores, {"that it may use: affinity and quota", Digits{2}});
  field("python", unless_empty(found.python), {"version", Null{"no Python was seen"}});
  field("pytorch", unless_empty(found.torch), {"version", Null{"was not seen"}});
  field("problem", unless_empty(found.problem), {"why nothing can be said", Null{"something can"}});
  field("limit", limit_of(found),
        {"`loader`: the loop waits for data over 10 % of its time; otherwise `model`",
         Null{"see `problem`"}});
  field("causes", found.causes,
        {"the one to remove first, then the others; empty: none of the list explains the waits"});
  field("slowest_rank", found.slowest,
        {"of ranks that train together, the one that the others wait for",
         Null{"there are none, or they wait alike"}});
  field("curve", found.curve, {"the script's own loader alone, at numbers of workers"});
  field("restarts", found.restarts, {"with --restart: the loop at other numbers of workers"});
  field("sweep_delay_share", only_if(found.busy > 0, found.busy),
        {"of the sweep at one worker, which waited for a processor that others had", Unit{"share"},
         Null{"it did not, or there was no sweep"}, Digits{4}});
  field("no_sweep", unless_empty(found.no_sweep),
        {"why the sweep was refused", Null{"it was not"}});
  field("loops", found.loops, {"over loaders: first the one that the causes are of"});
}

Description describe_diagnose() { return description_of(Diagnosis{}); }

std::string Diagnosis::json() const { return json_text_of(*this); }

}  // namespace feedrate::tools
