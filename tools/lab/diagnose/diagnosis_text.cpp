#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/diagnose/diagnosis.h"

namespace feedrate::tools {

namespace {

constexpr double noticeable = 0.05;  // share of the time
constexpr std::size_t bar_columns = 30;
constexpr std::size_t stage_columns = 30;
constexpr std::size_t loop_columns = 44;

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
  if (found.causes.empty() && loop.swap.made) {
    return wrapped(fmt::format("Feedrate's loader is the limit: the loop waits for data {} of its "
                               "time. --threads gives it more threads.",
                               percent_text(loop.wait_share())),
                   0, columns) +
           "\n";
  }
  if (found.causes.empty()) {
    return wrapped(
               fmt::format("The loop waits for data {} of its time, which none of the known causes "
                           "explains.",
                           percent_text(loop.wait_share())),
               0, columns) +
           "\n";
  }
  if (found.causes.front().kind != CauseKind::model) {
    text += wrapped(fmt::format("The loader is the limit: the loop waits for data {} of its time.",
                                percent_text(loop.wait_share())),
                    0, columns) +
            "\n";
  }
  for (const Cause& cause : found.causes) {
    if (cause.kind == CauseKind::model) {
      text += wrapped(harmless(cause.what), 0, columns) + "\n";
      continue;
    }
    text +=
        wrapped(fmt::format("- {}: {}{}", name(cause.kind), harmless(cause.what), gain_text(cause)),
                2, columns) +
        "\n";
    if (!cause.change.empty()) {
      text += fmt::format("    {}{}{}\n", harmless(cause.where), cause.where.empty() ? "" : ": ",
                          harmless(cause.change));
    }
  }
  return text;
}

std::string slowest_text(const Diagnosis& found, std::size_t columns) {
  if (!found.slowest) return {};
  const SlowestRank& slowest = *found.slowest;
  return wrapped(fmt::format(
                     "Rank {} of {} holds up the others: it waits for data {} of its time, they "
                     "{}; the cause there is {}.",
                     slowest.rank, slowest.ranks, percent_text(slowest.wait_share),
                     percent_text(slowest.others_wait_share),
                     slowest.cause ? name(*slowest.cause) : "none that is known"),
                 0, columns) +
         "\n";
}

/// Says how much of the loop's time no figure counts.
std::string others_text(const Loop& loop, std::size_t columns) {
  if (loop.others < noticeable * loop.time) return {};
  return wrapped(fmt::format("Not counted: {} inside its steps, in loops over other loaders or in "
                             "waiting for their batches.",
                             duration_text(loop.others)),
                 0, columns) +
         "\n";
}

std::string rates(const Loop& loop, std::size_t columns) {
  if (loop.samples <= 0) return {};
  const std::string basis = loop.unwaited > 0
                                ? fmt::format("from {} steps that did not wait", loop.unwaited)
                                : "without its waits";
  return wrapped(fmt::format("It gets {} samples/s and could take {} ({}).",
                             quantity(loop.delivered()), quantity(loop.demand()), basis),
                 0, columns) +
         "\n";
}

std::string curve_text(const Diagnosis& found, std::size_t columns) {
  if (found.curve.empty()) return {};
  const LoaderMade& made = found.loops.front().made;
  const bool swapped = found.loops.front().swap.made.has_value();
  std::string text = fmt::format("\n{:>7} {:>12} {:>12}\n", "workers", "predicted", "measured");
  double largest = 0;
  for (const CurvePoint& point : found.curve) largest = std::max(largest, best_known(point));
  for (const CurvePoint& point : found.curve) {
    text += fmt::format("{:>7} {:>12} {:>12}  {}{}\n", point.workers, quantity(point.predicted),
                        point.measured ? quantity(*point.measured) : "-",
                        bar(bar_value(best_known(point)), bar_value(largest), bar_columns),
                        point.workers == made.workers && !swapped ? "  now" : "");
  }
  std::string about =
      swapped ? "samples/s of your own loader alone" : "samples/s of the loader alone";
  if (!found.no_sweep.empty()) about += "; not measured, since " + harmless(found.no_sweep);
  about += ".";
  if (found.busy > noticeable) {
    about +=
        fmt::format(" While they were measured, other programs had the processors {} of the time.",
                    percent_text(found.busy));
  }
  return text + wrapped(about, 0, columns) + "\n";
}

std::string restarts_text(const Diagnosis& found, std::size_t columns) {
  if (found.restarts.empty()) return {};
  std::string text =
      fmt::format("\n{:>7} {:>12} {:>12} {:>7}\n", "workers", "predicted", "measured", "waits");
  double largest = 0;
  for (const Restarted& one : found.restarts) {
    largest = std::max(largest, one.delivered.value_or(0));
  }
  for (const Restarted& one : found.restarts) {
    text += fmt::format("{:>7} {:>12} ", one.workers, quantity(one.predicted));
    if (!one.delivered) {
      text += one.problem + "\n";
      continue;
    }
    text += fmt::format("{:>12} {:>7}  {}{}\n", quantity(*one.delivered),
                        percent_text(one.wait_share.value_or(0)),
                        bar(bar_value(*one.delivered), bar_value(largest), bar_columns),
                        one.workers == found.loops.front().made.workers ? "  now" : "");
  }
  return text + wrapped("samples/s of the loop, where the command was started again.", 0, columns) +
         "\n";
}

std::string stages(const Loop& loop) {
  const Service& service = loop.service;
  if (service.stages.empty() || service.samples <= 0) return {};
  std::vector<Stage> sorted = service.stages;
  std::ranges::sort(sorted, std::greater{},
                    [&](const Stage& stage) { return service.alone(stage); });
  const double each = service.samples, all = service.alone();
  std::string text = fmt::format("\nA sample takes {}", duration_text(all / each));
  if (service.blocked > 0.05 * all) {
    text += fmt::format(", {} of them waiting for storage or others",
                        duration_text(service.blocked / each));
  }
  if (service.delay > 0.05 * all) {
    text += fmt::format("; it waits {} more for a processor", duration_text(service.delay / each));
  }
  text += ":\n";
  for (const Stage& stage : sorted) {
    const double own = service.alone(stage);
    text += fmt::format("  {} {:>8} {:>5}  {}\n", fitted(stage_text(stage.name), stage_columns),
                        duration_text(own / each), percent_text(own / all),
                        bar(bar_value(own * 1e9), bar_value(all * 1e9), bar_columns));
  }
  return text;
}

/// "ImageFolder, train.py:31"
std::string loop_name(const LoaderMade& made) {
  return harmless(made.dataset + ", " + made.where.substr(made.where.rfind('/') + 1));
}

std::string keep_lines(const Loop& loop, std::size_t columns) {
  const Swapped& made = *loop.swap.made;
  const std::string variable = harmless(made.name);
  const std::string where = harmless(loop.made.where.substr(loop.made.where.rfind('/') + 1));
  if (!variable.empty()) {
    return fmt::format(
        "  To keep it, write in {}:\n    import feedrate.torch\n    {} = "
        "feedrate.torch.like({})\n",
        where, variable, variable);
  }
  const std::string_view like =
      made.shared ? "feedrate.torch.like(…, shared=True)" : "feedrate.torch.like()";
  std::string how = "import feedrate.torch and ";
  if (made.here) {
    how +=
        fmt::format("write feedrate.torch.like(DataLoader(…)) for the DataLoader(…) in {}.", where);
  } else if (!made.method.empty()) {
    how += fmt::format("let {} return {} of the DataLoader.", harmless(made.method), like);
  } else {
    how += fmt::format("take {} of the DataLoader that {} gives to a library.", like, where);
  }
  return "  " + wrapped("To keep it, " + how, 2, columns) + "\n";
}

std::string pixels_text(const PixelsDiffer& pixels) {
  std::string text = fmt::format(
      "The pixels of {} samples, 0 … 255, differ by {:.2g} in the mean, and by {:.2g} "
      "at most.",
      pixels.samples, pixels.mean, pixels.largest);
  if (!pixels.left_out.empty()) {
    text += fmt::format(" Not compared: {}.",
                        harmless(fmt::format("{}", fmt::join(pixels.left_out, ", "))));
  }
  return text;
}

/// The loops in groups, in their order. Loaders that are made alike are of one group: those of the ranks, or one for
/// each validation.
std::vector<std::vector<const Loop*>> alike(const Diagnosis& found, bool apart_by_rank) {
  std::vector<std::vector<const Loop*>> groups;
  const auto traits = [&](const Loop& loop) {
    const LoaderMade& made = loop.made;
    return std::tuple(made.where, made.dataset, made.length, made.batch, made.workers,
                      apart_by_rank ? loop.rank : std::nullopt, loop.swap.left);
  };
  for (const Loop& loop : found.loops) {
    const auto group = std::ranges::find_if(
        groups, [&](const auto& loops) { return traits(*loops.front()) == traits(loop); });
    if (group == groups.end()) {
      groups.push_back({&loop});
    } else {
      group->push_back(&loop);
    }
  }
  return groups;
}

std::string swap_text(const Loop& loop, std::size_t columns) {
  const SwapSeen& swap = loop.swap;
  const std::string name = loop_name(loop.made);
  if (!swap.made) {
    if (swap.left.empty()) return {};
    return wrapped(fmt::format("Left as it is: {}: {}.", name, harmless(swap.left)), 2, columns) +
           "\n";
  }
  std::string text = wrapped(fmt::format("Swapped: {}, for {} of Feedrate's.", name,
                                         counted(swap.made->threads, "thread")),
                             2, columns) +
                     "\n";
  const auto line = [&](const std::string& sentence) {
    text += "  " + wrapped(sentence, 2, columns) + "\n";
  };
  if (swap.before && swap.after) {
    const double before = loop.rate(*swap.before), after = loop.rate(*swap.after);
    line(fmt::format("Alone, yours supplies {} {}/s with {}, and Feedrate's {}: {} times as many.",
                     quantity(before), loop.samples > 0 ? "samples" : "batches",
                     counted(loop.made.workers, "worker"), quantity(after),
                     times_text(after / before)));
  } else if (!swap.unmeasured.empty()) {
    line("Neither was measured alone, since " + harmless(swap.unmeasured) + ".");
  }
  if (swap.pixels) line(pixels_text(*swap.pixels));
  if (swap.stood_in.count > 0) {
    line(fmt::format("Mind: {} left to the script's own decoding, since Feedrate could not: {}.",
                     counted(swap.stood_in.count, "sample"), harmless(swap.stood_in.why)));
  }
  for (const std::string& note : swap.made->notes) line("Mind: " + harmless(note) + ".");
  return text + keep_lines(loop, columns);
}

std::string swaps(const Diagnosis& found, std::size_t columns) {
  std::string text;
  for (const auto& loops : alike(found, false)) {
    // Only one of them was measured.
    const auto measured = std::ranges::find_if(loops, [](const Loop* loop) {
      return loop->swap.before.has_value() || loop->swap.pixels.has_value();
    });
    text += swap_text(measured != loops.end() ? **measured : *loops.front(), columns);
  }
  return text.empty() ? text : "\n" + text;
}

std::string all_loops(const Diagnosis& found) {
  if (found.loops.size() < 2) return {};
  std::string text =
      fmt::format("\n{} {:>5} {:>8} {:>8} {:>7}\n", fitted("loop over", loop_columns), "rank",
                  "workers", "steps", "waits");
  for (const auto& loops : alike(found, true)) {
    const Loop& first = *loops.front();
    std::uint64_t steps = 0;
    double time = 0, waited = 0;
    for (const Loop* loop : loops) {
      steps += loop->steps;
      time += loop->time;
      waited += loop->waited;
    }
    std::string name = loop_name(first.made);
    if (loops.size() > 1) name += fmt::format(" ({} loaders)", loops.size());
    text += fmt::format("{} {:>5} {:>8} {:>8} {:>7}\n", fitted(name, loop_columns),
                        first.rank ? std::to_string(*first.rank) : "-", first.made.workers, steps,
                        percent_text(time > 0 ? waited / time : 0));
  }
  return text;
}

}  // namespace

std::string Diagnosis::text(std::size_t columns) const {
  if (!problem.empty()) {
    return wrapped("No diagnosis: " + harmless(problem), 0, columns) + "\n" + swaps(*this, columns);
  }
  const Loop& loop = loops.front();
  return slowest_text(*this, columns) + verdict(*this, columns) + rates(loop, columns) +
         others_text(loop, columns) + curve_text(*this, columns) + restarts_text(*this, columns) +
         stages(loop) + swaps(*this, columns) + all_loops(*this);
}

}  // namespace feedrate::tools
