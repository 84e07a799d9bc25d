#include "tools/lab/jobs/train_report.h"

#include <fmt/format.h>

#include <array>

#include "formats/base/cores.h"
#include "formats/remote/url.h"
#include "loader/recipe.h"
#include "loader/verdict.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/jobs/report_fields.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;
using namespace trainer;

namespace {

std::string decoding_line(const RunReport& run) {
  return run.decoded ? fmt::format("  {}\n", run.decoded->text()) : std::string();
}

std::string remote_line(const RunReport& run) {
  return run.remote ? fmt::format("  {}\n", run.remote->text()) : std::string();
}

std::optional<double> cpu_seconds_per_image(const TrainingReport& report) {
  const std::uint64_t images = report.result.images_after_first;
  if (!report.run.telemetry.cpu_seconds || images == 0) return std::nullopt;
  return *report.run.telemetry.cpu_seconds / static_cast<double>(images);
}

/// Covers the same time as the rate and the stall: without warm-up. The rate is that of all ranks,
/// and so are a step's images.
double wait_ms_per_step(const TrainingReport& report) {
  const TrainResult& result = report.result;
  const double images = static_cast<double>(result.images_after_first) * report.ranks;
  const double step_ms =
      1e3 * images / static_cast<double>(result.steps - 1) / result.images_per_second;
  return result.stall_percent / 100 * step_ms;
}

/// Why there is no rate; "" where there is one.
std::string unknown_rate(const TrainResult& result) {
  if (result.seconds > 0) return {};
  return result.steps == 0 ? "there was no step"
                           : "one step is too few, since the clock starts after the first";
}

/// "1,234 images/s (6,336 images in 5.1 s), waiting 3.0 % of the time"
std::string rate_text(const TrainResult& result) {
  const std::string reason = unknown_rate(result);
  if (!reason.empty()) return "rate unknown: " + reason;
  return fmt::format("{} images/s ({} in {}), waiting {:.1f} % of the time",
                     quantity(result.images_per_second), counted(result.timed_images, "image"),
                     duration_text(result.timed_seconds), result.stall_percent);
}

/// What became of bad samples; "" where none was met.
std::string bad_line(const TrainingRequest& request, const TrainingReport& report) {
  if (!report.loader || report.loader->bad_seats == 0) return {};
  return fmt::format("  {} of bad samples {}\n", counted(report.loader->bad_seats, "seat"),
                     request.feed.loader.on_bad == BadPolicy::skip ? "skipped" : "replaced");
}

/// What limited the training; "" where that is unknown: no loader was at work, or one step alone.
std::string limit_line(const TrainingRequest& request, const TrainingReport& report) {
  if (!report.loader || report.result.seconds <= 0) return {};
  Figures figures = figures_of(*report.loader, report.run.threads);
  figures.delivered = Rate{report.result.images_per_second};
  figures.stall = report.result.stall_percent / 100;
  figures.demand.reset();  // the rate and the stall above leave out what was warming up
  if (figures.supply) figures.supply->value *= report.ranks;
  figures.cores = formats::usable_cores();
  figures.remote = !formats::url_scheme(request.data.path.native()).empty();
  const unsigned all =
      request.device.compute_threads > 0 ? request.device.compute_threads : figures.cores;
  figures.computing = request.device.name == "cpu" ? all : 1;
  return fmt::format("  {}\n", verdict_text(judge(figures)));
}

}  // namespace

template <>
inline constexpr Heading heading_of<ProductEngine>{
    "engine",
    "What a library runs for a product of the network: for a convolution or for one of its "
    "gradients."};

template <class Field>
void for_each_field(const ProductEngine& engine, const Field& field) {
  field("node", engine.node, {"the layer"});
  field("product", engine.product, {"`convolution`, `gradient of a convolution's input` …"});
  field("name", engine.name, {"its number in the library, and the choices for its knobs"});
  field("notes", engine.notes,
        {"what the library says of its numbers: `tensor core`, `winograd` …"});
  field("workspace_bytes", engine.workspace, {"memory for one call"});
  field("milliseconds", engine.milliseconds,
        {"of a call, measured once for this shape", Unit{"ms"}, Null{"not measured"}});
  field("fallback", unless_empty(engine.fallback),
        {"why a faster engine was expected", Null{"none was"}});
  field("passed_over", engine.passed_over,
        {"engines whose results were measured to be wrong, and by how much"});
}

template <class Field>
void for_each_field(const TrainOptions::Progress& at, const Field& field) {
  field("step", at.step, {"steps done, including those before a checkpoint"});
  field("epoch", at.epoch, {"counted from 0"});
  field("loss", at.loss, {"mean since the previous entry", Digits{6}});
  field("accuracy", at.accuracy, {"top-1, since the previous entry", Unit{"share"}, Digits{6}});
  field("images_per_second", only_if(at.images_per_second > 0, at.images_per_second),
        {"since the previous entry", Unit{"images/s"}, Null{"after only one step"}, Digits{3}});
}

template <class Field>
void for_each_field(const TrainingReport::Validation& at, const Field& field) {
  const Evaluation& found = at.evaluation;
  field("step", at.step, {"steps done"});
  field("epoch", at.epoch, {"epochs completed"});
  field("loss", found.loss, {"mean over the validation set", Digits{6}});
  field("accuracy", found.accuracy, {"top-1", Unit{"share"}, Digits{6}});
  field("accuracy5", found.accuracy5, {"top-5", Unit{"share"}, Digits{6}});
  field("seconds", found.seconds, {"its duration", Unit{"s"}, Digits{3}});
}

namespace {

struct Trained {
  TrainingRequest request;
  TrainingReport report;
};

struct Forwarded {
  TrainingRequest request;
  ForwardReport report;
};

/// What both have after their first keys.
template <class Field>
void for_each_common_field(const TrainingRequest& request, const RunReport& run,
                           const Field& field) {
  field("parameters", run.parameters, {"learned values"});
  field("macs", run.macs, {"multiply-adds, forward, for one image"});
  field("device", request.device.name, {"`cpu`, `cuda`"});
  field("precision", request.device.precision, {"`fp32`, `tf32`, `bf16`, `fp16`"});
  field("pixels", name(request.feed.pixels()), about_pixels);
  field("decode", name(request.feed.decode), about_decode);
  field("decoding", run.decoded, about_decoding);
  field("remote", run.remote, about_remote);
}

constexpr About about_network{"that was trained, or run"};
constexpr About about_engines{"in the order of layers; empty where a library chooses by itself"};
constexpr std::string_view not_recorded = "on the CPU; not tried yet";

std::optional<bool> is_on(const std::optional<Overlap>& overlap) {
  return overlap ? std::optional(overlap->on) : std::nullopt;
}
std::optional<std::string> why_off(const std::optional<Overlap>& overlap) {
  return overlap && !overlap->on ? std::optional(overlap->off_because) : std::nullopt;
}

constexpr About about_threads{"of the loader; with `--threads auto`, the final number"};

}  // namespace

template <>
inline constexpr Heading heading_of<Trained>{"train",
                                             "What `feedrate train` prints with `--mode train`. "
                                             "Telemetry is of this process, over `seconds`."};

template <class Field>
void for_each_field(const Trained& trained, const Field& field) {
  constexpr std::string_view one_step = "only one step";
  constexpr std::string_view no_validation = "without `--val`";
  constexpr std::string_view no_loader = "`--resident`: no loader";
  const TrainingReport& report = trained.report;
  const TrainResult& result = report.result;
  // The clock starts after the first step, so a single step has no rate.
  const auto timed = [&](double value) { return only_if(result.seconds > 0, value); };
  const bool validated = !report.validations.empty();
  const Evaluation last = validated ? report.validations.back().evaluation : Evaluation{};
  field("network", trained.request.model.network, about_network);
  for_each_common_field(trained.request, report.run, field);
  field("optimizer", report.optimizer, {"that updates the parameters"});
  field("recipe", report.run.recipe, {"of the loader: how images are cropped and flipped"});
  field("complete", !result.stopped, about_complete);
  field("batch", report.run.batch, {"images in a step, over all ranks"});
  field("ranks", report.ranks, {"processes that train together"});
  field("steps", result.steps, {"done by this run"});
  field("images", result.images, {"trained on by this run, all ranks"});
  field("seconds", result.seconds,
        {"of all steps but the first, without validations and checkpoints", Unit{"s"}, Digits{6}});
  field("images_per_second", timed(result.images_per_second),
        {"`timed_images` / `timed_seconds`", Unit{"images/s"}, Null{one_step}, Digits{3}});
  field("timed_images", result.timed_images,
        {"of `images`, without the first step and the warm-up; all ranks"});
  field("timed_seconds", result.timed_seconds,
        {"of `seconds`, without the warm-up", Unit{"s"}, Digits{6}});
  field("rate_unknown", unless_empty(unknown_rate(result)),
        {"why there is no rate: `one step is too few, …`", Null{"there is one"}});
  field("warmup_seconds", result.warmup_seconds,
        {"of `seconds`, left out of the rate", Unit{"s"}, Null{"not known; without `--seconds`"},
         Digits{3}});
  field("stall_percent", timed(result.stall_percent),
        {"share of the time spent waiting for data", Unit{"%"}, Null{one_step}, Digits{3}});
  field("wait_ms_per_step", timed(wait_ms_per_step(report)),
        {"of a step, waiting for data", Unit{"ms"}, Null{one_step}, Digits{6}});
  field("busy", report.loader ? std::optional(busy_of(*report.loader)) : std::nullopt,
        {"time of the loader's workers, added up", Null{no_loader}});
  field("bad_seats", report.loader ? std::optional(report.loader->bad_seats) : std::nullopt,
        {"places in batches that bad samples would have taken, with `--on-bad replace` or `skip`",
         Null{no_loader}});
  field("cpu_seconds_per_image", cpu_seconds_per_image(report),
        {"`cpu_seconds` for an image", Unit{"s"}, Null{one_step}, Digits{9}});
  field("steps_recorded", report.steps_recorded,
        {"whether steps run as one CUDA graph; if not, kernel by kernel", Null{not_recorded}});
  field("early_kernels", is_on(report.early_kernels),
        {"whether a kernel may start while the one before it ends", Null{not_recorded}});
  field("early_kernels_off", why_off(report.early_kernels), {"why not", Null{"they do"}});
  field("weight_branch", is_on(report.weight_branch),
        {"whether gradients of weights are found beside other work", Null{not_recorded}});
  field("weight_branch_off", why_off(report.weight_branch), {"why not", Null{"they are"}});
  field("engines", report.run.engines, about_engines);
  field("loss_steps", result.loss_steps, {"steps since the previous entry of `curve`"});
  const bool stepped = result.loss_steps > 0;
  constexpr std::string_view no_step = "no step was left";
  field("loss", only_if(stepped, result.loss),
        {"training loss, mean over these steps", Null{no_step}, Digits{6}});
  field("loss_bits", only_if(stepped, fmt::format("{:a}", result.loss)),
        {"all its bits in hexadecimal, as C's `%a` writes them: whether two trainings are the same",
         Null{no_step}});
  field("accuracy", only_if(stepped, result.accuracy),
        {"top-1 of the same images", Unit{"share"}, Null{no_step}, Digits{6}});
  field("accuracy5", only_if(stepped, result.accuracy5),
        {"top-5 of the same images", Unit{"share"}, Null{no_step}, Digits{6}});
  field(
      "curve", result.curve,
      {"training, every 100 steps, at the end of each epoch of 100 steps or more, and at the end"});
  field("val_accuracy", only_if(validated, last.accuracy),
        {"top-1 of the last validation", Unit{"share"}, Null{no_validation}, Digits{6}});
  field("val_accuracy5", only_if(validated, last.accuracy5),
        {"top-5 of the last validation", Unit{"share"}, Null{no_validation}, Digits{6}});
  field("validations", report.validations,
        {"every validation; the last one is at the end of the training"});
  for_each_field(report.run.telemetry, field);
  field("threads", report.run.threads, about_threads);
  field("workers_seen", report.loader ? std::optional(report.loader->workers_seen) : std::nullopt,
        {"threads that filled a place in a batch", Null{no_loader}});
}

Description describe_train() { return description_of(Trained{}); }

std::string to_json(const TrainingRequest& request, const TrainingReport& report) {
  return json_text_of(Trained{request, report});
}

std::string to_text(const TrainingRequest& request, const TrainingReport& report) {
  const TrainResult& result = report.result;
  std::string text =
      fmt::format("{} on {}: {}; {} of {}\n", request.model.network, report.run.device_name,
                  rate_text(result), counted(result.steps, "step"), report.run.batch);
  if (result.loss_steps > 0) {
    text += fmt::format("  training loss {:.4f}, top-1 {:.2f} %, top-5 {:.2f} % over the last {}\n",
                        result.loss, 100 * result.accuracy, 100 * result.accuracy5,
                        counted(result.loss_steps, "step"));
  }
  text += fmt::format("  recipe {}", report.run.recipe);
  if (request.feed.decode == Decode::scaled) text += ", decoded scaled";
  if (!report.validations.empty()) {
    text += fmt::format(", validated by {}", recipe(report.run.recipe).evaluation().name());
  }
  text += '\n' + bad_line(request, report) + limit_line(request, report);
  text += decoding_line(report.run) + remote_line(report.run);
  if (report.tuning) text += fmt::format("  loader threads: {}\n", tuning_text(*report.tuning));
  for (const TrainingReport::Validation& at : report.validations) {
    const Evaluation& evaluation = at.evaluation;
    text += fmt::format("  step {}: validation loss {:.4f}, top-1 {:.2f} %, top-5 {:.2f} % of {}\n",
                        at.step, evaluation.loss, 100 * evaluation.accuracy,
                        100 * evaluation.accuracy5, counted(evaluation.images, "image"));
  }
  return text;
}

template <>
inline constexpr Heading heading_of<Forwarded>{
    "train-forward", "What `feedrate train` prints with `--mode infer` and `--mode features`."};

template <class Field>
void for_each_field(const Forwarded& forwarded, const Field& field) {
  constexpr std::string_view one_batch = "only one batch";
  constexpr std::string_view features = "features";
  constexpr std::string_view infer = "infer";
  const ForwardReport& report = forwarded.report;
  const Inference& result = report.result;
  const Extent& extent = report.feature_extent;
  const bool infers = report.features.empty();
  const auto timed = [&](double value) { return only_if(result.timed_images > 0, value); };
  field("network", forwarded.request.model.network, about_network);
  field("mode", std::string(name(forwarded.request.mode)), {"`infer` or `features`"});
  for_each_common_field(forwarded.request, report.run, field);
  field("recipe", report.run.recipe, {"of the loader, for evaluation"});
  field("batch", report.run.batch, {"images in a step"});
  field("images", result.images, {"that went through the network"});
  field("seconds", result.seconds, {"of all batches but the first", Unit{"s"}, Digits{6}});
  field("images_per_second", timed(static_cast<double>(result.timed_images) / result.seconds),
        {"of all batches but the first", Unit{"images/s"}, Null{one_batch}, Digits{1}});
  field("seconds_per_1000", timed(result.seconds_per_1000()),
        {"for 1,000 images, of all batches but the first", Unit{"s"}, Null{one_batch}, Digits{4}});
  field("stall_percent", timed(100 * result.wait_seconds / result.seconds),
        {"share of the time spent waiting for data", Unit{"%"}, Null{one_batch}, Digits{3}});
  field("loss", only_if(infers, result.loss), {"mean over the images", Null{features}, Digits{6}});
  field("accuracy", only_if(infers, result.accuracy),
        {"top-1", Unit{"share"}, Null{features}, Digits{6}});
  field("accuracy5", only_if(infers, result.accuracy5),
        {"top-5", Unit{"share"}, Null{features}, Digits{6}});
  field("features", unless_empty(report.features),
        {"the layer whose values they are", Null{infer}});
  field("feature_shape", only_if(!infers, std::array{extent.channels, extent.height, extent.width}),
        {"channels, height, width of one image's", Null{infer}});
  field("engines", report.run.engines, about_engines);
  for_each_field(report.run.telemetry, field);
  field("threads", report.run.threads, about_threads);
}

Description describe_train_forward() { return description_of(Forwarded{}); }

std::string to_json(const TrainingRequest& request, const ForwardReport& report) {
  return json_text_of(Forwarded{request, report});
}

std::string to_text(const TrainingRequest& request, const ForwardReport& report) {
  const Inference& result = report.result;
  const std::string time = result.timed_images > 0
                               ? fmt::format("{:.3f} s for 1,000 images", result.seconds_per_1000())
                               : std::string("time unknown, one batch alone");
  std::string text =
      fmt::format("{} on {}: {}, {} forward, recipe {}\n", request.model.network,
                  report.run.device_name, time, counted(result.images, "image"), report.run.recipe);
  if (report.features.empty()) {
    text += fmt::format("  loss {:.4f}, top-1 {:.2f} %, top-5 {:.2f} %\n", result.loss,
                        100 * result.accuracy, 100 * result.accuracy5);
  } else {
    const Extent& extent = report.feature_extent;
    text += fmt::format("  features: {} × {} × {} for each image, the output of {}\n",
                        extent.channels, extent.height, extent.width, report.features);
  }
  return text + decoding_line(report.run);
}

}  // namespace feedrate::tools
