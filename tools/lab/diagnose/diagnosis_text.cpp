#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/diagnose/diagnosis.h"

namespace feedrate::tools {

namespace {

constexpr std::size_t bar_columns = 30;
constexpr std::size_t stage_columns = 30;

std::uint64_t bar_value(double value) { return static_cast<std::uint64_t>(std::max(0.0, value)); }

std::string stage_text(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  if (kind == "getitem") return "the dataset's own code";
  if (colon == std::string::npos) return kind;
  return harmless(name.substr(colon + 1, name.find(':', colon + 1) - colon - 1));
}

std::string verdict(const Diagnosis& found, std::size_t columns) {
  const Loop& loop = found.loops.front();
  std::string text;
  if (found.causes.empty()) {
    return wrapped(
               fmt::format("The loop waits for data {} of its time, which none of the known causes "
                           "explains.",
                           share_text(loop.wait_share())),
               0, columns) +
           "\n";
  }
  if (found.causes.front().kind != CauseKind::model) {
    text += wrapped(fmt::format("The loader is the limit: the loop waits for data {} of its time.",
                                share_text(loop.wait_share())),
                    0, columns) +
            "\n";
  }
  for (const Cause& cause : found.causes) {
    if (cause.kind == CauseKind::model) {
      text += wrapped(harmless(cause.what), 0, columns) + "\n";
      continue;
    }
    std::string gain;
    if (cause.gain > 1.02) {
      gain = fmt::format(" Without it, the loop is {}{:.2g} times as fast.",
                         cause.bound ? "at most " : "", cause.gain);
    }
    text += wrapped(fmt::format("- {}: {}{}", name(cause.kind), harmless(cause.what), gain), 2,
                    columns) +
            "\n";
    if (!cause.change.empty()) {
      text += fmt::format("    {}{}{}\n", harmless(cause.where), cause.where.empty() ? "" : ": ",
                          harmless(cause.change));
    }
  }
  return text;
}

std::string rates(const Loop& loop, std::size_t columns) {
  if (loop.samples <= 0) return {};
  const std::string basis = loop.unwaited > 0
                                ? fmt::format("from {} steps that did not wait", loop.unwaited)
                                : "from steps that waited before, since too few did not";
  return wrapped(fmt::format("It gets {} samples/s and could take {} ({}).",
                             quantity(loop.delivered()), quantity(loop.demand()), basis),
                 0, columns) +
         "\n";
}

std::string curve_text(const Diagnosis& found, std::size_t columns) {
  if (found.curve.empty()) return {};
  std::string text = fmt::format("\n{:>7} {:>12} {:>12}\n", "workers", "predicted", "measured");
  double largest = 0;
  for (const CurvePoint& point : found.curve) largest = std::max(largest, best_known(point));
  for (const CurvePoint& point : found.curve) {
    text += fmt::format("{:>7} {:>12} {:>12}  {}{}\n", point.workers, quantity(point.predicted),
                        point.measured ? quantity(*point.measured) : "-",
                        bar(bar_value(best_known(point)), bar_value(largest), bar_columns),
                        point.workers == found.loops.front().made.workers ? "  now" : "");
  }
  std::string about = "samples/s of the loader alone";
  if (!found.no_sweep.empty()) about += "; not measured, since " + harmless(found.no_sweep);
  return text + wrapped(about + ".", 0, columns) + "\n";
}

std::string stages(const Loop& loop) {
  const Service& service = loop.service;
  if (service.stages.empty() || service.samples <= 0) return {};
  std::vector<Stage> sorted = service.stages;
  std::ranges::sort(sorted, std::greater{}, &Stage::wall);
  const double each = service.samples;
  std::string text =
      fmt::format("\nA sample takes {}, of which {} on a processor, {} waiting for one:\n",
                  duration_text(service.wall / each), duration_text(service.cpu / each),
                  duration_text(service.delay / each));
  for (const Stage& stage : sorted) {
    text +=
        fmt::format("  {} {:>8} {:>5}  {}\n", fitted(stage_text(stage.name), stage_columns),
                    duration_text(stage.wall / each), share_text(stage.wall / service.wall),
                    bar(bar_value(stage.wall * 1e9), bar_value(service.wall * 1e9), bar_columns));
  }
  return text;
}

std::string all_loops(const Diagnosis& found) {
  if (found.loops.size() < 2) return {};
  std::string text =
      fmt::format("\n{} {:>5} {:>8} {:>8} {:>7}\n", fitted("loop over", stage_columns), "rank",
                  "workers", "steps", "waits");
  for (const Loop& loop : found.loops) {
    text += fmt::format("{} {:>5} {:>8} {:>8} {:>7}\n",
                        fitted(harmless(loop.made.dataset), stage_columns),
                        loop.rank ? std::to_string(*loop.rank) : "-", loop.made.workers, loop.steps,
                        share_text(loop.wait_share()));
  }
  return text;
}

}  // namespace

std::string Diagnosis::text(std::size_t columns) const {
  if (!problem.empty()) return wrapped("No diagnosis: " + harmless(problem), 0, columns) + "\n";
  const Loop& loop = loops.front();
  return verdict(*this, columns) + rates(loop, columns) + curve_text(*this, columns) +
         stages(loop) + all_loops(*this);
}

}  // namespace feedrate::tools
