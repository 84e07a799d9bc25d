#include "tools/lab/diagnose/loop.h"

#include <algorithm>

#include "formats/base/statistics.h"

namespace feedrate::tools {
using formats::median;

namespace {

constexpr std::uint64_t warm_up = 3;     // steps that compile, allocate and open
constexpr std::uint64_t few_steps = 10;  // in which those would be too many to leave out
constexpr std::ptrdiff_t enough_whole = 5;
constexpr double short_wait = 1e-3;    // below this, no step has waited
constexpr double waited_share = 0.05;  // of a step
constexpr double outlying = 4;         // times the middle batch
constexpr std::uint64_t enough_unwaited = 5;

/// How much of from … to the loop was paused.
double paused(const std::vector<Paused>& pauses, double from, double to) {
  double sum = 0;
  for (const Paused& pause : pauses) {
    sum += std::max(0.0, std::min(to, pause.end) - std::max(from, pause.begin));
  }
  return sum;
}

struct Turn {
  double wait = 0, step = 0, cpu = 0, own = 0, pin = 0;
  bool first = false;  // of its epoch
};

std::vector<Turn> turns_of(const LoaderSeen& seen, const std::vector<Paused>& pauses) {
  std::vector<Turn> turns;
  for (const Epoch& epoch : seen.epochs) {
    for (std::size_t i = 0; i < epoch.steps.size(); ++i) {
      const StepBegun& now = epoch.steps[i];
      const bool last = i + 1 == epoch.steps.size();
      if (last && !epoch.ended) continue;  // the loop was left
      const double next = last ? *epoch.ended : epoch.steps[i + 1].begin;
      const double from = i == 0 ? epoch.begun.begin : now.begin;
      // Waiting for a processor is no waiting for data.
      const double wait = now.end - from - paused(pauses, from, now.end) - now.delay.value_or(0);
      turns.push_back({.wait = std::max(0.0, wait),
                       .step = next - now.end - paused(pauses, now.end, next),
                       .cpu = now.cpu,
                       .own = last ? 0 : epoch.steps[i + 1].own,
                       .pin = now.pin,
                       .first = i == 0});
    }
  }
  return turns;
}

}  // namespace

double Service::alone(const Stage& stage) const {
  const double waits = delay + blocked;
  const double share = waits > 0 ? blocked / waits : 0;
  return stage.cpu + std::max(0.0, stage.wall - stage.cpu) * share;
}

Service service_of(const Work& work) {
  Service service;
  service.batches = work.batches.size();
  if (work.batches.empty()) return service;
  // To time the parts of a batch of short calls slows it: then most batches are timed as a whole.
  const auto whole = std::ranges::count(work.batches, false, &BatchMade::detailed);
  const bool only_whole = whole >= enough_whole;
  std::vector<double> walls;
  double looked = 0, n = 0, reads = 0;
  for (const BatchMade& batch : work.batches) {
    const double wall = batch.end - batch.begin;
    const double delay = std::min(batch.delay.value_or(0), std::max(0.0, wall - batch.cpu));
    walls.push_back(wall - delay);
    if (batch.read) {
      ++reads;
      service.read += static_cast<double>((*batch.read)[0]);
    }
    if (batch.leaves) {
      ++looked;
      service.tensors += static_cast<double>((*batch.leaves)[0]);
      service.bytes += static_cast<double>((*batch.leaves)[1]);
      service.float_bytes += static_cast<double>((*batch.leaves)[2]);
    }
    if (only_whole && batch.detailed) continue;
    ++n;
    service.samples += static_cast<double>(batch.samples);
    service.wall += wall;
    service.cpu += batch.cpu;
    service.delay += delay;
    service.put += batch.put_cpu;
  }
  for (double* sum :
       {&service.samples, &service.wall, &service.cpu, &service.delay, &service.put}) {
    *sum /= n;
  }
  service.read /= std::max(1.0, reads);
  for (double* sum : {&service.tensors, &service.bytes, &service.float_bytes}) {
    *sum /= std::max(1.0, looked);
  }
  service.blocked = std::max(0.0, service.wall - service.cpu - service.delay);
  service.median = median(walls);
  for (const double wall : walls) {
    if (wall > outlying * service.median) service.outliers += wall - service.median;
  }
  // Parts were timed in some batches: as shares of those, they divide the mean batch.
  const double scale = work.detailed_wall > 0 ? service.wall / work.detailed_wall : 0;
  for (const auto& [name, span] : work.spans) {
    service.stages.push_back({name, span.wall * scale, span.cpu * scale});
    service.detail += service.wall > 0 ? span.wall * scale / service.wall : 0;
  }
  std::ranges::sort(service.stages, std::greater{}, &Stage::cpu);
  return service;
}

Loop loop_of(const LoaderSeen& seen, const std::vector<Paused>& pauses) {
  Loop loop{.made = seen.made, .rank = seen.rank, .steps = seen.steps};
  loop.epochs = seen.epochs.size();
  loop.swap = seen.swap;
  loop.service = service_of(seen.work);
  loop.samples = loop.service.samples > 0 ? loop.service.samples
                                          : static_cast<double>(seen.made.batch.value_or(0));
  std::vector<Turn> turns = turns_of(seen, pauses);
  if (turns.size() > few_steps) turns.erase(turns.begin(), turns.begin() + warm_up);
  std::vector<double> steps, unwaited, receives, owns;
  for (const Turn& turn : turns) steps.push_back(turn.step);
  const double typical = median(steps);
  for (const Turn& turn : turns) {
    loop.time += turn.wait + turn.step;
    loop.waited += turn.wait;
    loop.pin += turn.pin;
    if (turn.first) {
      loop.starts += turn.wait;
      ++loop.started;
    }
    receives.push_back(turn.cpu);
    if (turn.own > 0) owns.push_back(turn.own);
    // A loop begins with full queues and slow steps, which are not typical of those that do not wait.
    const bool warm = 4 * receives.size() > steps.size();
    if (warm && turn.wait <= std::max({short_wait, 2 * turn.cpu, waited_share * typical})) {
      unwaited.push_back(turn.step);
    }
  }
  loop.counted = turns.size();
  loop.pin /= std::max(1.0, static_cast<double>(turns.size()));
  if (seen.made.workers > 0) loop.receive = median(std::move(receives));
  loop.step_cpu = median(std::move(owns));
  // Steps that differ wait less where they are long: those are not typical, either.
  const double mean = loop.time / std::max(1.0, static_cast<double>(turns.size()));
  const bool enough =
      unwaited.size() >= std::max<std::size_t>(enough_unwaited, steps.size() / 10) &&
      median(unwaited) <= mean;
  loop.unwaited = enough ? unwaited.size() : 0;
  loop.step = enough ? median(std::move(unwaited)) : typical;

  double late = 0, workers = 0;
  for (const Epoch& epoch : seen.epochs) {
    for (const double begin : epoch.workers) {
      late += begin - epoch.begun.begin;
      ++workers;
    }
  }
  if (workers > 0) loop.worker_start = late / workers;
  if (loop.samples == 0 && !seen.epochs.empty() && !seen.epochs.front().steps.empty()) {
    loop.samples = static_cast<double>(seen.epochs.front().steps.front().samples.value_or(0));
  }
  return loop;
}

}  // namespace feedrate::tools
