#include "tools/lab/jobs/load_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "loader/verdict.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

using nlohmann::ordered_json;

// The accelerator utilisation that MLPerf Storage requires (ResNet-50).
constexpr double mlperf_share = 0.9;

double per_image(const DriveResult& result) {
  return result.images == 0 ? 0 : result.cpu_seconds / static_cast<double>(result.images);
}

ordered_json as_json(const std::optional<Tuning>& tuning) {
  if (!tuning) return nullptr;
  ordered_json tried = ordered_json::array();
  for (const ThreadsTried& one : tuning->tried) {
    tried.push_back({{"threads", one.threads},
                     {"images_per_second", rounded(one.images_per_second, 1)},
                     {"waited", rounded(one.waited, 4)}});
  }
  const ThreadsTried* knee = tuning->knee();
  return {{"knee", knee != nullptr ? ordered_json(knee->threads) : ordered_json(nullptr)},
          {"settled", tuning->settled},
          {"most", tuning->max_threads},
          {"need", rounded(tuning->need, 3)},
          {"seconds_per_image",
           {{"read", rounded(tuning->read, 9)},
            {"decode", rounded(tuning->decode, 9)},
            {"augment", rounded(tuning->augment, 9)}}},
          {"tried", tried}};
}

/// "829 images/s: 176 images in 212 ms", or why there is no rate.
std::string rate_text(const DriveResult& result) {
  const std::string reason = result.unknown_rate();
  if (!reason.empty()) {
    return fmt::format("rate unknown, {}: {} in {}", reason, counted(result.images, "image"),
                       duration_text(result.seconds));
  }
  return fmt::format("{} images/s: {} in {}", quantity(*result.images_per_second()),
                     counted(result.timed_images, "image"), duration_text(result.timed_seconds));
}

/// Which images and which time the rate is of, where it is not simply all; "" else.
std::string clock_text(const DriveResult& result) {
  if (!result.images_per_second()) return {};
  if (result.from_start) {
    return fmt::format(
        "  measured from the loader's start, since {} batches are too few to leave start-up out\n",
        formats::grouped(result.batches));
  }
  const std::string all = counted(result.images, "image");
  if (result.warmup_seconds.value_or(0) > 0) {
    return fmt::format(
        "  {}, of which {} came in the first {}, while the rate was settling, and do not count\n",
        all, formats::grouped(result.images - result.timed_images),
        duration_text(*result.warmup_seconds));
  }
  return fmt::format("  {}, of which {} lay ready when the clock started and do not count\n", all,
                     formats::grouped(result.ready_images));
}

std::string threads_text(const LoadReport& report) {
  if (report.threads == 0) return "in the consumer's thread";
  const unsigned seen = report.stats.workers_seen;
  // The search may have ended with fewer threads than it tried.
  if (report.tuning) {
    return fmt::format("{} in the end, {} seen at work in all", counted(report.threads, "thread"),
                       seen);
  }
  return fmt::format("{}, {} of them seen at work", counted(report.threads, "thread"), seen);
}

/// Too little for a rate is too little to judge by.
Figures judged_figures(const LoadReport& report) {
  if (!report.result.images_per_second()) return {.threads = report.threads};
  return figures_of(report.stats, report.threads);
}

std::string limit_text(const LoadReport& report) {
  if (report.stats.images == 0) return "nothing was handed out";
  Figures figures = judged_figures(report);
  figures.consumer = "consumer";
  figures.cores = formats::usable_cores();
  return verdict_text(judge(figures));
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// How much of JPEGs was decoded for the parts of them that were wanted; "" where none was.
std::string crops_text(const CropStats& crops) {
  if (crops.parts == 0) return {};
  std::string text = fmt::format(
      "  of {} decoded in part, {:.1f} % of the MCUs and {:.1f} % of the bytes were decoded, {}\n",
      counted(crops.parts, "baseline JPEG"), percent(crops.mcus_read, crops.mcus),
      percent(crops.bytes_read, crops.bytes),
      crops.indexed == 0
          ? "without a crop index"
          : fmt::format("{} of them with the crop index", formats::grouped(crops.indexed)));
  if (crops.stale == 0) return text;
  return text + fmt::format(
                    "  {} had a stale or damaged entry of the crop index, which was not used; "
                    "'feedrate index PATH --crops' makes it again\n",
                    counted(crops.stale, "image"));
}

}  // namespace

std::string LoadReport::json() const {
  const Figures figures = judged_figures(*this);
  const auto rate = [](const std::optional<Rate>& known) {
    return known ? ordered_json(rounded(known->value, 1)) : ordered_json(nullptr);
  };
  const std::optional<double>& utilisation = result.accelerator_utilisation;
  ordered_json object = {
      {"complete", !result.stopped},
      {"images", result.images},
      {"seconds", rounded(result.seconds, 6)},
      {"images_per_second", or_null<ordered_json>(result.images_per_second(), 1)},
      {"timed_images", result.timed_images},
      {"timed_seconds", rounded(result.timed_seconds, 6)},
      {"rate_unknown", or_null<ordered_json>(result.unknown_rate())},
      {"ready_images", result.ready_images},
      {"warmup_seconds", or_null<ordered_json>(result.warmup_seconds, 3)},
      {"from_start", result.from_start},
      {"threads", threads},
      {"workers_seen", stats.workers_seen},
      {"auto", as_json(tuning)},
      {"batch", batch},
      {"pixels", name(pixels)},
      {"layout", name(layout)},
      {"decode", name(decode)},
      {"shrunk_images", stats.shrunk},
      {"epochs", rounded(epochs, 3)},
      {"digest", or_null<ordered_json>(digest)},
      {"stall_seconds", rounded(result.stall_seconds, 6)},
      {"busy",
       {{"read", rounded(stats.busy_read, 6)},
        {"decode", rounded(stats.busy_decode, 6)},
        {"augment", rounded(stats.busy_augment, 6)}}},
      {"limit", name(judge(figures).limit)},
      {"supply", rate(figures.supply)},
      {"demand", rate(figures.demand)},
      {"accelerator_utilisation", or_null<ordered_json>(utilisation, 4)},
      {"passes", null_unless<ordered_json>(utilisation.has_value(), utilisation >= mlperf_share)},
      {"cpu_seconds", rounded(result.cpu_seconds, 6)},
      {"cpu_seconds_per_image", rounded(per_image(result), 9)},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"bytes_read", stats.bytes_read},
      {"storage_bytes", storage_bytes},
      {"in_memory", or_null<ordered_json>(in_memory, 4)},
      {"state", {{"seed", state.seed}, {"epoch", state.epoch}, {"position", state.position}}},
      {"crops",
       {{"parts", stats.crops.parts},
        {"indexed", stats.crops.indexed},
        {"stale", stats.crops.stale},
        {"mcus_read", stats.crops.mcus_read},
        {"mcus", stats.crops.mcus},
        {"bytes_read", stats.crops.bytes_read},
        {"bytes", stats.crops.bytes},
        {"problem", or_null<ordered_json>(crop_index_problem)}}},
      {"bad", {{"samples", bad_samples}, {"seats", stats.bad_seats}}},
      {"device", as_json<ordered_json>(device)}};
  for_each_host_field(telemetry, [&](const std::string& key, const std::optional<double>& value) {
    // Written above, for the whole call, as cpu_seconds_per_image is.
    if (key != "cpu_seconds") object[key] = or_null<ordered_json>(value);
  });
  return json_text(object);
}

std::string LoadReport::text() const {
  std::string text = fmt::format(
      "{} ({:.2f} epochs), {}\n{}"
      "  workers were busy {} reading, {} decoding, {} augmenting; {} read\n"
      "  the consumer waited {}; the process used {} of CPU time ({} an image), {} of memory\n"
      "  {}\n",
      rate_text(result), epochs, threads_text(*this), clock_text(result),
      duration_text(stats.busy_read), duration_text(stats.busy_decode),
      duration_text(stats.busy_augment), bytes_text(stats.bytes_read),
      duration_text(result.stall_seconds), duration_text(result.cpu_seconds),
      duration_text(per_image(result)), bytes_text(result.peak_rss_bytes), limit_text(*this));
  if (in_memory) {
    text += fmt::format("  cold: {:.1f} % of the dataset was in memory; {} came from storage\n",
                        100 * *in_memory, bytes_text(storage_bytes));
  }
  text += crops_text(stats.crops);
  if (decode == Decode::scaled) {
    text += fmt::format("  decoded scaled: {} at a half of their size or less\n",
                        counted(stats.shrunk, "image"));
  }
  if (tuning) text += fmt::format("  auto: {}\n", tuning_text(*tuning));
  if (result.accelerator_utilisation) {
    const double share = *result.accelerator_utilisation;
    text += fmt::format(
        "  the emulated trainer computed {:.1f} % of the time: {} the {:.0f} % of MLPerf Storage\n",
        100 * share, share >= mlperf_share ? "passes" : "fails", 100 * mlperf_share);
  }
  if (device) text += fmt::format("  {}\n", device->text());
  if (bad_samples > 0) {
    text += fmt::format("  {} bad, in {} {}\n", counted(bad_samples, "sample"),
                        counted(stats.bad_seats, "seat"), skips ? "skipped" : "replaced");
  }
  if (result.stopped) text += "  interrupted before its end\n";
  text += fmt::format("  --seed {} --from {}:{} resumes after it\n", state.seed, state.epoch,
                      state.position);
  if (!digest.empty()) text += fmt::format("  digest of the first epoch {}\n", digest);
  return text;
}

}  // namespace feedrate::tools
