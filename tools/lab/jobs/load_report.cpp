#include "tools/lab/jobs/load_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "loader/verdict.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/jobs/report_fields.h"
#include "tools/lab/measure/verdict_text.h"

namespace feedrate::tools {
using namespace loader;

namespace {

// The accelerator utilisation that MLPerf Storage requires (ResNet-50).
constexpr double mlperf_share = 0.9;

double per_image(double seconds, const DriveResult& result) {
  return result.images == 0 ? 0 : seconds / static_cast<double>(result.images);
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
        "  measured from the start of the loader, because the run took {} batches only\n",
        formats::grouped(result.batches));
  }
  const std::string all = counted(result.images, "image");
  if (result.warmup_seconds.value_or(0) > 0) {
    return fmt::format(
        "  {} in all; {} of the first {} are not counted, because the rate was settling\n", all,
        formats::grouped(result.images - result.timed_images),
        duration_text(*result.warmup_seconds));
  }
  return fmt::format("  {} in all; {} prefetched before the clock started are not counted\n", all,
                     formats::grouped(result.ready_images));
}

std::string threads_text(const LoadReport& report) {
  if (report.threads == 0) return "no loader threads";
  const std::string threads = counted(report.threads, "loader thread");
  const unsigned seen = report.stats.workers_seen;
  // A search may have ended with fewer threads than it tried.
  return report.tuning || seen >= report.threads
             ? threads
             : fmt::format("{}, {} of them busy", threads, seen);
}

/// Too little for a rate is too little to judge by. The trainer's part is of the time that the rate is of: the
/// loader's counters also know the time before and after it.
Figures judged_figures(const LoadReport& report) {
  const std::optional<double> delivered = report.result.images_per_second();
  const std::optional<double> demand = report.result.demand;
  if (!delivered || !demand) return {.threads = report.threads};
  Figures figures = figures_of(report.stats, report.threads);
  figures.remote = report.remote && report.remote->bytes != 0;
  figures.delivered = Rate{*delivered};
  figures.demand = Rate{*demand};
  figures.stall = std::max(0.0, 1 - *delivered / *demand);
  figures.loader_cpu = per_image(report.result.cpu_seconds, report.result);
  return figures;
}

/// The stage that takes most of the loading time, of a loader whose batches nobody trains on.
std::string longest_stage_text(const LoaderStats& stats) {
  const std::array<std::pair<double, std::string_view>, 3> stages{
      {{stats.busy_read, "reading"},
       {stats.busy_decode, "decoding"},
       {stats.busy_augment, "augmentation"}}};
  const auto& [longest, stage] = *std::ranges::max_element(stages);
  const double busy = stats.busy_read + stats.busy_decode + stats.busy_augment;
  if (busy <= 0) return "no loading time was measured";
  return fmt::format("{} takes {:.0f} % of loading time", stage, 100 * longest / busy);
}

/// Whether the emulated trainer is fed and, where it is not, how many cores would feed it.
std::string emulated_text(const LoadReport& report) {
  Figures figures = judged_figures(report);
  figures.cores = formats::usable_cores();
  const Verdict verdict = judge(figures);
  if (!verdict.demand || !figures.delivered) return finding_text(verdict);
  const double cores = verdict.demand->value * figures.loader_cpu;
  const std::string whom = quantity(verdict.demand->value) + " images/s";
  if (is_fed(verdict.limit)) {
    return fmt::format("{}: {} take {}.", enough_threads_text(report.threads), whom,
                       cores_taken_text(cores));
  }
  const bool waits = waits_for_data(verdict.limit);
  return unfed_text(figures.delivered->value / verdict.demand->value, whom,
                    waits ? std::vector<NeededCores>{} : std::vector<NeededCores>{{cores, ""}}) +
         " " + finding_text(verdict);
}

std::string limit_text(const LoadReport& report) {
  if (report.stats.images == 0) return "nothing was handed out";
  return report.result.accelerator_utilisation ? emulated_text(report)
                                               : longest_stage_text(report.stats);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// How much of JPEGs was decoded for the parts of them that were wanted; "" where none was.
std::string crops_text(const CropStats& crops) {
  if (crops.parts == 0) return {};
  std::string text = fmt::format(
      "  {} decoded in part: {:.1f} % of their MCUs, {:.1f} % of their bytes, {}\n",
      counted(crops.parts, "baseline JPEG"), percent(crops.mcus_read, crops.mcus),
      percent(crops.bytes_read, crops.bytes),
      crops.indexed == 0
          ? "without a crop index"
          : fmt::format("{} of them with the crop index", formats::grouped(crops.indexed)));
  if (crops.stale == 0) return text;
  return text + fmt::format(
                    "  {} had a stale or damaged entry in the crop index and did without; "
                    "'feedrate index PATH --crops' rebuilds it\n",
                    counted(crops.stale, "image"));
}

/// Thread-seconds for an image.
struct SecondsPerImage {
  double read = 0;
  double decode = 0;
  double augment = 0;
};

}  // namespace

template <class Field>
void for_each_field(const SecondsPerImage& seconds, const Field& field) {
  field("read", seconds.read, {"reading it", Unit{"s"}, Digits{9}});
  field("decode", seconds.decode, {"decoding it", Unit{"s"}, Digits{9}});
  field("augment", seconds.augment, {"resizing and augmenting it", Unit{"s"}, Digits{9}});
}

template <class Field>
void for_each_field(const ThreadsTried& tried, const Field& field) {
  field("threads", tried.threads, {"of the loader"});
  field("images_per_second", tried.images_per_second,
        {"with so many threads", Unit{"images/s"}, Digits{1}});
  field("waited", tried.waited, {"of the time that the trainer waited", Unit{"share"}, Digits{4}});
}

template <class Field>
void for_each_field(const Tuning& tuning, const Field& field) {
  const ThreadsTried* knee = tuning.knee();
  field("knee", only_if(knee != nullptr, knee != nullptr ? knee->threads : 0),
        {"the fewest threads that were as fast as any number tried", Null{"nothing was measured"}});
  field("settled", tuning.settled, {"whether the search had ended"});
  field("most", tuning.max_threads, {"the largest number of threads allowed"});
  field("need", tuning.need, {"number of loader threads that the trainer keeps busy", Digits{3}});
  field("seconds_per_image", SecondsPerImage{tuning.read, tuning.decode, tuning.augment},
        {"that one worker spends"});
  field("tried", tuning.tried, {"numbers of threads that were measured"});
}

template <class Field>
void for_each_field(const LoaderState& state, const Field& field) {
  field("seed", state.seed, {"of the order and of every draw"});
  field("epoch", state.epoch, {"counted from 0"});
  field("position", state.position, {"images into the epoch"});
}

namespace {

struct CropsUsed {
  CropStats stats;
  std::string problem;
};

struct BadMet {
  std::size_t samples = 0;
  std::uint64_t seats = 0;
};

}  // namespace

template <class Field>
void for_each_field(const CropsUsed& crops, const Field& field) {
  const CropStats& stats = crops.stats;
  field("parts", stats.parts, {"baseline JPEGs of which only a part was wanted"});
  field("indexed", stats.indexed, {"of these, decoded with the crop index"});
  field("stale", stats.stale,
        {"images whose entry in the crop index is stale or damaged: decoded without it"});
  field("mcus_read", stats.mcus_read, {"MCUs, the units of a scan, that were decoded"});
  field("mcus", stats.mcus, {"MCUs in these images"});
  field("bytes_read", stats.bytes_read, {"bytes of their scans that were decoded"});
  field("bytes", stats.bytes, {"bytes of these JPEGs"});
  field("problem", unless_empty(crops.problem),
        {"why the crop index that is there cannot be used", Null{"there is none, or it is used"}});
}

template <class Field>
void for_each_field(const BadMet& bad, const Field& field) {
  field("samples", bad.samples, {"number of different bad samples"});
  field("seats", bad.seats, {"places in batches that they would have taken"});
}

template <>
inline constexpr Heading heading_of<LoadReport>{"load", "What `feedrate load` prints."};

template <class Field>
void for_each_field(const LoadReport& report, const Field& field) {
  constexpr std::string_view no_rate = "`images_per_second` is null";
  constexpr std::string_view no_emulation = "without `--emulate`";
  const DriveResult& result = report.result;
  const LoaderStats& stats = report.stats;
  const Figures figures = judged_figures(report);
  const auto rate = [](const std::optional<Rate>& known) {
    return known ? std::optional(known->value) : std::nullopt;
  };
  const auto if_emulated = [&](double value) {
    return only_if(result.accelerator_utilisation && result.batches > 0, value);
  };
  field("complete", !result.stopped, about_complete);
  field("images", result.images, {"handed out"});
  field("seconds", result.seconds,
        {"from the first batch to the end, or `from_start`", Unit{"s"}, Digits{6}});
  field(
      "images_per_second", result.images_per_second(),
      {"`timed_images` / `timed_seconds`", Unit{"images/s"}, Null{"these are too few"}, Digits{1}});
  field("timed_images", result.timed_images,
        {"of `images`, without those that lay ready and those of the warm-up"});
  field("timed_seconds", result.timed_seconds,
        {"of `seconds`, without the warm-up", Unit{"s"}, Digits{6}});
  field("rate_unknown", unless_empty(result.unknown_rate()),
        {"why there is no rate: `one batch is too few`", Null{"there is one"}});
  field("ready_images", result.ready_images,
        {"of `images`, that lay ready when the clock started"});
  field("warmup_seconds", result.warmup_seconds,
        {"of `seconds`, left out of the rate", Unit{"s"}, Null{"not known"}, Digits{3}});
  field("from_start", result.from_start,
        {"the clock started with the loader and not with the first batch, since few batches "
         "followed it"});
  field("threads", report.threads, {"as asked for; with `--threads auto`, the final number"});
  field("workers_seen", stats.workers_seen,
        {"threads that filled a place in a batch; with `--threads auto`, of all numbers tried"});
  field("auto", report.tuning, {"what `--threads auto` found", Null{"without `--threads auto`"}});
  field("batch", report.batch, {"images in a batch"});
  field("pixels", name(report.pixels), about_pixels);
  field("layout", name(report.layout),
        {"how images lie in batches: `nhwc`, channels last, or `nchw`"});
  field("decode", name(report.decode), about_decode);
  field("shrunk_images", stats.shrunk, {"images decoded at a half of their size or less"});
  field("repeated_images", stats.repeated,
        {"of `images`, that came again in their epoch, since `--last` wraps or pads"});
  field("epochs", report.epochs, {"`images` divided by the size of the dataset", Digits{3}});
  field("digest", unless_empty(report.digest),
        {"of the first epoch's batches; the same at any number of threads", Unit{sha256_unit},
         Null{"`--no-digest`"}});
  field("stall_seconds", result.stall_seconds,
        {"that the trainer waited, without the first batch", Unit{"s"}, Digits{6}});
  field("stall_percent", if_emulated(100 * result.stall_seconds / result.seconds),
        {"share of the time that the emulated trainer waited", Unit{"%"}, Null{no_emulation},
         Digits{3}});
  field("wait_ms_per_step",
        if_emulated(1e3 * result.stall_seconds / static_cast<double>(result.batches)),
        {"of a step, waiting for data", Unit{"ms"}, Null{no_emulation}, Digits{6}});
  field("busy", busy_of(stats), {"time of all workers, added up"});
  field("limit", name(judge(figures).limit),
        {"what limited it; `trainer` is whoever takes the batches"});
  field("supply", rate(figures.supply),
        {"if the loader threads never waited", Unit{"images/s"}, Null{no_rate}, Digits{1}});
  field("demand", rate(figures.demand),
        {"if the trainer never waited", Unit{"images/s"}, Null{no_rate}, Digits{1}});
  field("accelerator_utilisation", result.accelerator_utilisation,
        {"of the time that the emulated trainer computed", Unit{"share"}, Null{no_emulation},
         Digits{4}});
  field("passes",
        only_if(result.accelerator_utilisation.has_value(),
                result.accelerator_utilisation >= mlperf_share),
        {"whether it is 0.9 or more, as MLPerf Storage asks", Null{no_emulation}});
  field("cpu_seconds", result.cpu_seconds,
        {"processor time of the process, all threads, of the whole call", Unit{"s"}, Digits{6}});
  field("cpu_seconds_per_image", per_image(result.cpu_seconds, result),
        {"`cpu_seconds` for an image", Unit{"s"}, Digits{9}});
  field("kernel_seconds_per_image", per_image(result.kernel_seconds, result),
        {"of these, in the kernel", Unit{"s"}, Digits{9}});
  field("peak_rss_bytes", result.peak_rss_bytes, {"largest resident memory of the process so far"});
  field("bytes_read", stats.bytes_read, {"encoded bytes that workers read"});
  field("storage_bytes", report.storage_bytes, {"read from disks while it ran"});
  field("in_memory", report.in_memory,
        {"of the dataset that was in memory when loading began, after the cache was dropped",
         Unit{"share"}, Null{"without `--cold`"}, Digits{4}});
  field("state", report.state, {"the position after the last batch, for `--seed` and `--from`"});
  field("crops", CropsUsed{stats.crops, report.crop_index_problem},
        {"how much of baseline JPEGs was decoded, where only parts of them were wanted"});
  field("bad", BadMet{report.bad_samples, stats.bad_seats},
        {"bad samples met, with `--on-bad replace` or `skip`"});
  field("device", report.device, about_decoding);
  field("remote", report.remote, about_remote);
  for_each_host_field(report.telemetry, field);
}

Description describe_load() { return description_of(LoadReport{}); }

std::string LoadReport::json() const { return json_text_of(*this); }

std::string LoadReport::text() const {
  std::string text = fmt::format(
      "{} ({:.2f} epochs), {}\n  {}\n{}"
      "  loader threads spent {} reading, {} decoding, {} augmenting; {} read\n"
      "  CPU time {} ({} per image); peak memory {}\n",
      rate_text(result), epochs, threads_text(*this), limit_text(*this), clock_text(result),
      duration_text(stats.busy_read), duration_text(stats.busy_decode),
      duration_text(stats.busy_augment), bytes_text(stats.bytes_read),
      duration_text(result.cpu_seconds), duration_text(per_image(result.cpu_seconds, result)),
      bytes_text(result.peak_rss_bytes));
  if (in_memory) {
    text += fmt::format("  cold: {:.1f} % of the dataset was in memory; {} came from storage\n",
                        100 * *in_memory, bytes_text(storage_bytes));
  }
  if (remote) text += fmt::format("  {}\n", remote->text());
  text += crops_text(stats.crops);
  if (decode == Decode::scaled) {
    text += fmt::format("  decoded scaled: {} at a half of their size or less\n",
                        counted(stats.shrunk, "image"));
  }
  if (tuning) text += fmt::format("  auto: {}\n", tuning_text(*tuning));
  if (result.accelerator_utilisation) {
    const double share = *result.accelerator_utilisation;
    text += fmt::format("  accelerator utilisation {:.1f} % (MLPerf Storage asks for {:.0f} %)\n",
                        100 * share, 100 * mlperf_share);
  }
  if (device) text += fmt::format("  {}\n", device->text());
  if (stats.repeated > 0) {
    text += fmt::format("  {} repeated to complete the last batch of an epoch\n",
                        counted(stats.repeated, "image"));
  }
  if (bad_samples > 0) {
    text += fmt::format("  {}, {} {}\n", counted(bad_samples, "bad sample"),
                        skips ? "skipped" : "replaced", counted(stats.bad_seats, "time"));
  }
  if (result.stopped) text += "  interrupted\n";
  text += fmt::format("  continue with --seed {} --from {}:{}\n", state.seed, state.epoch,
                      state.position);
  if (!digest.empty()) text += fmt::format("  digest of the first epoch {}\n", digest);
  return text;
}

}  // namespace feedrate::tools
