#include "tools/lab/diagnose/left_out.h"

#include <algorithm>

#include "formats/base/statistics.h"

namespace feedrate::tools {

namespace {

/// Of an epoch that was left, nobody knows when: about a step after its last batch.
double likely_end(const Epoch& epoch) {
  if (epoch.ended) return *epoch.ended;
  std::vector<double> steps;
  for (std::size_t i = 1; i < epoch.steps.size(); ++i) {
    steps.push_back(epoch.steps[i].begin - epoch.steps[i - 1].end);
  }
  return epoch.known_end() + (steps.empty() ? 0 : formats::median(std::move(steps)));
}

double length_of(const std::vector<Paused>& times) {
  double sum = 0;
  for (const Paused& one : times) sum += one.end - one.begin;
  return sum;
}

void put_in_order(std::vector<Paused>& times) {
  std::ranges::sort(times, {}, &Paused::begin);
  std::vector<Paused> apart;
  for (const Paused& one : times) {
    if (apart.empty() || one.begin > apart.back().end) {
      apart.push_back(one);
    } else {
      apart.back().end = std::max(apart.back().end, one.end);
    }
  }
  times = std::move(apart);
}

}  // namespace

double LeftOut::within(double from, double to) const {
  double sum = 0;
  auto one = std::ranges::upper_bound(times, from, {}, &Paused::end);
  for (; one != times.end() && one->begin < to; ++one) {
    sum += std::max(0.0, std::min(to, one->end) - std::max(from, one->begin));
  }
  return sum;
}

OtherLoops::OtherLoops(const Seen& seen) : seen_(seen) {
  for (const auto& [key, loader] : seen.loaders) {
    for (const Epoch& epoch : loader.epochs) {
      all_[key.first].push_back({.begin = epoch.begun.begin,
                                 .known = epoch.known_end(),
                                 .end = likely_end(epoch),
                                 .loader = &loader,
                                 .thread = epoch.begun.thread,
                                 .one_batch = !epoch.ended && epoch.steps.size() < 2});
      for (const StepBegun& step : epoch.steps) {
        takes_[key.first].push_back(
            {step.begin, step.end, epoch.begun.begin, &loader, epoch.begun.thread});
      }
    }
  }
  for (auto& [process, loops] : all_) std::ranges::sort(loops, {}, &One::begin);
  for (auto& [process, takes] : takes_) std::ranges::sort(takes, {}, &Take::begin);
}

void OtherLoops::add_loops(const LoaderSeen& loader, const KnownStep& step, LeftOut& found) const {
  const std::vector<One>& loops = all_.at(loader.process);
  auto one = std::ranges::lower_bound(loops, step.begun->end, {}, &One::begin);
  for (; one != loops.end() && one->begin < step.next; ++one) {
    // A batch of another loader in most steps belongs to them, though it comes by an iterator of its own.
    const bool of_step = one->one_batch && 2 * one->loader->epochs.size() > loader.steps;
    const bool inside = one->known <= step.next && one->thread == step.epoch->begun.thread;
    if (!inside || of_step || one->loader == &loader) continue;
    found.times.push_back({one->begin, std::min(one->end, step.next)});
  }
}

void OtherLoops::add_takes(const LoaderSeen& loader, const KnownStep& step, LeftOut& found) const {
  const std::vector<Take>& takes = takes_.at(loader.process);
  auto take = std::ranges::lower_bound(takes, step.begun->end, {}, &Take::begin);
  for (; take != takes.end() && take->begin < step.next; ++take) {
    const bool beside = take->loader != &loader && take->since < step.begun->end;
    if (beside && take->thread == step.epoch->begun.thread) {
      found.times.push_back({take->begin, std::min(take->end, step.next)});
    }
  }
}

LeftOut OtherLoops::left_out_of(const LoaderSeen& loader) const {
  LeftOut found;
  for (const auto& [process, pauses] : seen_.pauses) {
    // Ranks wait for each other, so that one's pause is all others' as well.
    const bool shared = process == loader.process || loader.rank.has_value();
    if (shared) found.times.insert(found.times.end(), pauses.begin(), pauses.end());
  }
  put_in_order(found.times);
  const double paused = length_of(found.times);
  for (const KnownStep& step : loader.known_steps()) {
    add_loops(loader, step, found);
    add_takes(loader, step, found);
  }
  put_in_order(found.times);
  found.others = length_of(found.times) - paused;
  return found;
}

}  // namespace feedrate::tools
