#include "tools/lab/jobs/train_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "formats/base/cores.h"
#include "loader/recipe.h"
#include "loader/verdict.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;
using namespace trainer;

namespace {

using nlohmann::ordered_json;

/// The keys with which the reports of all modes begin.
ordered_json common_keys(const TrainingRequest& request, const RunReport& run) {
  ordered_json object = {{"network", request.model.network}};
  if (request.mode != "train") object["mode"] = request.mode;
  object.update({{"parameters", run.parameters},
                 {"macs", run.macs},
                 {"device", request.device.name},
                 {"precision", request.device.precision},
                 {"pixels", name(request.feed.pixels())},
                 {"decode", name(request.feed.decode)},
                 {"decoding", as_json<ordered_json>(run.decoded)}});
  return object;
}

std::string decoding_line(const RunReport& run) {
  return run.decoded ? fmt::format("  {}\n", run.decoded->text()) : std::string();
}

void put(ordered_json& object, const Telemetry& telemetry) {
  for_each_telemetry_field(telemetry, [&](const char* key, const auto& value) {
    object[key] = or_null<ordered_json>(value);
  });
}

ordered_json busy(const std::optional<LoaderStats>& loader) {
  if (!loader) return nullptr;
  return {{"read", rounded(loader->busy_read, 6)},
          {"decode", rounded(loader->busy_decode, 6)},
          {"augment", rounded(loader->busy_augment, 6)}};
}

std::optional<double> cpu_seconds_per_image(const TrainingReport& report) {
  const std::uint64_t images = report.result.images_after_first;
  if (!report.run.telemetry.cpu_seconds || images == 0) return std::nullopt;
  return rounded(*report.run.telemetry.cpu_seconds / static_cast<double>(images), 9);
}

ordered_json engines_json(const std::vector<ProductEngine>& engines) {
  ordered_json list = ordered_json::array();
  for (const ProductEngine& engine : engines) {
    list.push_back({{"node", engine.node},
                    {"product", engine.product},
                    {"name", engine.name},
                    {"notes", engine.notes},
                    {"workspace_bytes", engine.workspace},
                    {"milliseconds", or_null<ordered_json>(engine.milliseconds)},
                    {"fallback", or_null<ordered_json>(engine.fallback)}});
  }
  return list;
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

/// What limited the training; "" where that is unknown: no loader was at work, or one step alone.
std::string limit_line(const TrainingRequest& request, const TrainingReport& report) {
  if (!report.loader || report.result.seconds <= 0) return {};
  Figures figures = figures_of(*report.loader, report.run.threads);
  figures.delivered = Rate{report.result.images_per_second};
  figures.stall = report.result.stall_percent / 100;
  figures.demand.reset();  // the rate and the stall above leave out what was warming up
  if (figures.supply) figures.supply->value *= report.ranks;
  figures.cores = formats::usable_cores();
  const unsigned all =
      request.device.compute_threads > 0 ? request.device.compute_threads : figures.cores;
  figures.computing = request.device.name == "cpu" ? all : 1;
  return fmt::format("  {}\n", verdict_text(judge(figures)));
}

}  // namespace

std::string to_json(const TrainingRequest& request, const TrainingReport& report) {
  const TrainResult& result = report.result;
  // The clock starts after the first step, so a single step has no rate.
  const auto timed = [&](double value, int digits) {
    return null_unless<ordered_json>(result.seconds > 0, rounded(value, digits));
  };
  ordered_json curve = ordered_json::array();
  for (const TrainOptions::Progress& at : result.curve) {
    curve.push_back(
        {{"step", at.step},
         {"epoch", at.epoch},
         {"loss", rounded(at.loss, 6)},
         {"accuracy", rounded(at.accuracy, 6)},
         {"images_per_second",
          null_unless<ordered_json>(at.images_per_second > 0, rounded(at.images_per_second, 3))}});
  }
  ordered_json validations = ordered_json::array();
  for (const TrainingReport::Validation& at : report.validations) {
    validations.push_back({{"step", at.step},
                           {"epoch", at.epoch},
                           {"loss", rounded(at.evaluation.loss, 6)},
                           {"accuracy", rounded(at.evaluation.accuracy, 6)},
                           {"accuracy5", rounded(at.evaluation.accuracy5, 6)},
                           {"seconds", rounded(at.evaluation.seconds, 3)}});
  }
  const bool validated = !report.validations.empty();
  const Evaluation last = validated ? report.validations.back().evaluation : Evaluation{};
  ordered_json object = common_keys(request, report.run);
  object.update(
      {{"optimizer", report.optimizer},
       {"recipe", report.run.recipe},
       {"complete", !result.stopped},
       {"batch", report.run.batch},
       {"ranks", report.ranks},
       {"steps", result.steps},
       {"images", result.images},
       {"seconds", rounded(result.seconds, 6)},
       {"images_per_second", timed(result.images_per_second, 3)},
       {"timed_images", result.timed_images},
       {"timed_seconds", rounded(result.timed_seconds, 6)},
       {"rate_unknown", or_null<ordered_json>(unknown_rate(result))},
       {"warmup_seconds", or_null<ordered_json>(result.warmup_seconds, 3)},
       {"stall_percent", timed(result.stall_percent, 3)},
       {"wait_ms_per_step", timed(wait_ms_per_step(report), 6)},
       {"busy", busy(report.loader)},
       {"cpu_seconds_per_image", or_null<ordered_json>(cpu_seconds_per_image(report))},
       {"steps_recorded", or_null<ordered_json>(report.steps_recorded)},
       {"engines", engines_json(report.run.engines)},
       {"loss_steps", result.loss_steps},
       {"loss", rounded(result.loss, 6)},
       {"accuracy", rounded(result.accuracy, 6)},
       {"accuracy5", rounded(result.accuracy5, 6)},
       {"curve", curve},
       {"val_accuracy", null_unless<ordered_json>(validated, rounded(last.accuracy, 6))},
       {"val_accuracy5", null_unless<ordered_json>(validated, rounded(last.accuracy5, 6))},
       {"validations", validations}});
  put(object, report.run.telemetry);
  object["threads"] = report.run.threads;
  object["workers_seen"] = nullptr;
  if (report.loader) object["workers_seen"] = report.loader->workers_seen;
  return json_text(object);
}

std::string to_text(const TrainingRequest& request, const TrainingReport& report) {
  const TrainResult& result = report.result;
  std::string text = fmt::format(
      "{} on {}: {}; {} of {}\n"
      "  training loss {:.4f}, top-1 {:.2f} %, top-5 {:.2f} % over the last {}\n",
      request.model.network, report.run.device_name, rate_text(result),
      counted(result.steps, "step"), report.run.batch, result.loss, 100 * result.accuracy,
      100 * result.accuracy5, counted(result.loss_steps, "step"));
  text += fmt::format("  recipe {}", report.run.recipe);
  if (request.feed.decode == Decode::scaled) text += ", decoded scaled";
  if (!report.validations.empty()) {
    text += fmt::format(", validated by {}", recipe(report.run.recipe).evaluation().name());
  }
  text += '\n' + limit_line(request, report);
  text += decoding_line(report.run);
  if (report.tuning) text += fmt::format("  loader threads: {}\n", tuning_text(*report.tuning));
  for (const TrainingReport::Validation& at : report.validations) {
    const Evaluation& evaluation = at.evaluation;
    text += fmt::format("  step {}: validation loss {:.4f}, top-1 {:.2f} %, top-5 {:.2f} % of {}\n",
                        at.step, evaluation.loss, 100 * evaluation.accuracy,
                        100 * evaluation.accuracy5, counted(evaluation.images, "image"));
  }
  return text;
}

std::string to_json(const TrainingRequest& request, const ForwardReport& report) {
  const Inference& result = report.result;
  const bool timed = result.timed_images > 0;
  const bool infers = report.features.empty();
  const auto when = [](bool known, double value, int digits) {
    return null_unless<ordered_json>(known, rounded(value, digits));
  };
  const Extent& extent = report.feature_extent;
  ordered_json object = common_keys(request, report.run);
  object.update(
      {{"recipe", report.run.recipe},
       {"batch", report.run.batch},
       {"images", result.images},
       {"seconds", rounded(result.seconds, 6)},
       {"images_per_second",
        when(timed, static_cast<double>(result.timed_images) / result.seconds, 1)},
       {"seconds_per_1000", when(timed, result.seconds_per_1000(), 4)},
       {"stall_percent", when(timed, 100 * result.wait_seconds / result.seconds, 3)},
       {"loss", when(infers, result.loss, 6)},
       {"accuracy", when(infers, result.accuracy, 6)},
       {"accuracy5", when(infers, result.accuracy5, 6)},
       {"features", or_null<ordered_json>(report.features)},
       {"feature_shape", null_unless<ordered_json>(
                             !infers, std::array{extent.channels, extent.height, extent.width})},
       {"engines", engines_json(report.run.engines)}});
  put(object, report.run.telemetry);
  object["threads"] = report.run.threads;
  return json_text(object);
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
