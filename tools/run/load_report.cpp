#include "tools/run/load_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "loader/verdict.h"
#include "tools/cli/text.h"
#include "tools/measure/or_null.h"

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

std::string limit_text(const LoadReport& report) {
  Figures figures = figures_of(report.stats, report.threads);
  if (!figures.supply) return "nothing was handed out";
  figures.consumer = "consumer";
  figures.cores = formats::usable_cores();
  const Verdict verdict = judge(figures);
  return verdict.finding + " " + verdict.advice;
}

}  // namespace

std::string LoadReport::json() const {
  const Figures figures = figures_of(stats, threads);
  const std::optional<double>& utilisation = result.accelerator_utilisation;
  ordered_json object = {
      {"complete", !result.stopped},
      {"images", result.images},
      {"seconds", rounded(result.seconds, 6)},
      {"images_per_second", rounded(result.images_per_second, 1)},
      {"warmup_seconds", or_null<ordered_json>(result.warmup_seconds, 3)},
      {"threads", threads},
      {"workers_seen", stats.workers_seen},
      {"auto", as_json(tuning)},
      {"batch", batch},
      {"pixels", name(pixels)},
      {"epochs", rounded(epochs, 3)},
      {"digest", or_null<ordered_json>(digest)},
      {"stall_seconds", rounded(result.stall_seconds, 6)},
      {"busy",
       {{"read", rounded(stats.busy_read, 6)},
        {"decode", rounded(stats.busy_decode, 6)},
        {"augment", rounded(stats.busy_augment, 6)}}},
      {"limit", name(judge(figures).limit)},
      {"supply", rounded(figures.supply.value_or(Rate{}).value, 1)},
      {"demand", rounded(figures.demand.value_or(Rate{}).value, 1)},
      {"accelerator_utilisation", or_null<ordered_json>(utilisation, 4)},
      {"passes", null_unless<ordered_json>(utilisation.has_value(), utilisation >= mlperf_share)},
      {"cpu_seconds", rounded(result.cpu_seconds, 6)},
      {"cpu_seconds_per_image", rounded(per_image(result), 9)},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"bytes_read", stats.bytes_read},
      {"storage_bytes", storage_bytes},
      {"in_memory", or_null<ordered_json>(in_memory, 4)},
      {"state", {{"seed", state.seed}, {"epoch", state.epoch}, {"position", state.position}}},
      {"bad", {{"samples", bad_samples}, {"seats", stats.bad_seats}}}};
  for_each_host_field(telemetry, [&](const std::string& key, const std::optional<double>& value) {
    // Written above, for the whole call, as cpu_seconds_per_image is.
    if (key != "cpu_seconds") object[key] = or_null<ordered_json>(value);
  });
  return json_text(object);
}

std::string LoadReport::text() const {
  std::string text = fmt::format(
      "{} images/s: {} in {} ({:.2f} epochs), {}, {} of them seen at work\n"
      "  workers were busy {} reading, {} decoding, {} augmenting; {} read\n"
      "  the consumer waited {}; the process used {} of CPU time ({} an image), {} of memory\n"
      "  {}\n",
      quantity(result.images_per_second), counted(result.images, "image"),
      duration_text(result.seconds), epochs, counted(threads, "thread"), stats.workers_seen,
      duration_text(stats.busy_read), duration_text(stats.busy_decode),
      duration_text(stats.busy_augment), bytes_text(stats.bytes_read),
      duration_text(result.stall_seconds), duration_text(result.cpu_seconds),
      duration_text(per_image(result)), bytes_text(result.peak_rss_bytes), limit_text(*this));
  if (result.warmup_seconds.value_or(0) > 0) {
    text += fmt::format("  the first {} do not count: the rate was still settling\n",
                        duration_text(*result.warmup_seconds));
  }
  if (in_memory) {
    text += fmt::format("  cold: {:.1f} % of the dataset was in memory; {} came from storage\n",
                        100 * *in_memory, bytes_text(storage_bytes));
  }
  if (tuning) text += fmt::format("  auto: {}\n", tuning->text());
  if (result.accelerator_utilisation) {
    const double share = *result.accelerator_utilisation;
    text += fmt::format(
        "  the emulated trainer computed {:.1f} % of the time: {} the {:.0f} % of MLPerf Storage\n",
        100 * share, share >= mlperf_share ? "passes" : "fails", 100 * mlperf_share);
  }
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
