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

struct Turn {
  double wait = 0, step = 0, cpu = 0, pin = 0;
  bool full = true;    // whether `cpu` and `pin` are known
  bool first = false;  // of its epoch
};

/// How much of their waiting was for a processor, of the steps of which it is known.
double delayed_share(const LoaderSeen& seen) {
  double delays = 0, waits = 0;
  for (const Epoch& epoch : seen.epochs) {
    for (const StepBegun& step : epoch.steps) {
      if (!step.delay) continue;
      delays += *step.delay;
      waits += step.end - step.begin;
    }
  }
  return waits > 0 ? std::min(1.0, delays / waits) : 0;
}

std::vector<Turn> turns_of(const LoaderSeen& seen, const LeftOut& left_out) {
  std::vector<Turn> turns;
  const double delayed = delayed_share(seen);
  for (const KnownStep& step : seen.known_steps()) {
    const StepBegun& now = *step.begun;
    const double from = step.is_first() ? step.epoch->begun.begin : now.begin;
    // Waiting for a processor is no waiting for data.
    const double delay = now.full ? now.delay.value_or(0) : delayed * (now.end - now.begin);
    const double wait = now.end - from - left_out.within(from, now.end) - delay;
    turns.push_back({.wait = std::max(0.0, wait),
                     .step = step.next - now.end - left_out.within(now.end, step.next),
                     .cpu = now.cpu,
                     .pin = now.pin,
                     .full = now.full,
                     .first = step.is_first()});
  }
  return turns;
}

/// Processor time of a step in the middle, of all its process's threads, beside what next() takes.
double step_cpu_of(const LoaderSeen& seen, const LeftOut& left_out) {
  std::vector<double> found;
  for (const Epoch& epoch : seen.epochs) {
    const StepBegun* before = nullptr;
    double steps = 0;
    for (const StepBegun& step : epoch.steps) {
      ++steps;
      if (!step.full || step.process <= 0) continue;
      if (before != nullptr && left_out.within(before->end, step.begin) == 0) {
        found.push_back(std::max(0.0, (step.process - before->process) / steps - step.cpu));
      }
      before = &step;
      steps = 0;
    }
  }
  return median(std::move(found));
}

double delay_of(const BatchMade& batch) {
  return std::min(batch.delay.value_or(0), std::max(0.0, batch.end - batch.begin - batch.cpu));
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
  const bool only_whole = std::ranges::count_if(work.batches, [](const BatchMade& batch) {
                            return batch.full && !batch.detailed;
                          }) >= enough_whole;
  std::vector<double> walls;
  double looked = 0, full = 0, puts = 0, reads = 0;
  for (const BatchMade& batch : work.batches) {
    if (!batch.full) continue;
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
    puts += static_cast<double>(batch.puts);
    service.put += batch.put_cpu;
    if (only_whole && batch.detailed) continue;
    ++full;
    service.samples += static_cast<double>(batch.samples);
    service.cpu += batch.cpu;
    service.delay += delay_of(batch);
  }
  for (double* sum : {&service.samples, &service.cpu, &service.delay}) *sum /= std::max(1.0, full);
  service.put /= std::max(1.0, puts);
  service.read /= std::max(1.0, reads);
  for (double* sum : {&service.tensors, &service.bytes, &service.float_bytes}) {
    *sum /= std::max(1.0, looked);
  }
  // Of others, only how long they took is known: they waited for a processor as long as those.
  double timed = 0;
  for (const BatchMade& batch : work.batches) {
    const double wall = batch.end - batch.begin;
    walls.push_back(std::max(0.0, wall - (batch.full ? delay_of(batch) : service.delay)));
    if (only_whole && batch.detailed) continue;
    ++timed;
    service.wall += wall;
  }
  service.wall /= timed;
  service.blocked = std::max(0.0, service.wall - service.cpu - service.delay);
  service.median = median(walls);
  for (const double wall : walls) {
    if (wall > outlying * service.median) service.outliers += wall - service.median;
  }
  // Only some batches were timed in parts. The parts' shares of those batches are applied to the mean batch: the shares
  // of processor time to its processor time, since these batches may have waited more or less than others.
  const double scale = work.detailed_wall > 0 ? service.wall / work.detailed_wall : 0;
  const double scale_cpu = work.detailed_cpu > 0 ? service.cpu / work.detailed_cpu : scale;
  for (const auto& [name, span] : work.spans) {
    service.stages.push_back({name, span.wall * scale, span.cpu * scale_cpu});
    service.detail += service.wall > 0 ? span.wall * scale / service.wall : 0;
  }
  std::ranges::sort(service.stages, std::greater{}, &Stage::cpu);
  return service;
}

namespace {

Service alone_of(const SweepSeen& sweep) {
  if (sweep.work.empty()) return {};
  const auto one = sweep.work.find(1);
  return service_of((one != sweep.work.end() ? one : sweep.work.begin())->second);
}

}  // namespace

Loop loop_of(const LoaderSeen& seen, const LeftOut& left_out) {
  Loop loop{.made = seen.made, .rank = seen.rank, .steps = seen.steps};
  loop.others = left_out.others;
  loop.epochs = seen.epochs.size();
  loop.times_made = seen.times_made;
  loop.swap = seen.swap;
  loop.swept = seen.sweep.points;
  loop.alone = alone_of(seen.sweep);
  if (loop.swap.before) {
    const auto& [swapped, batches, time] = *loop.swap.before;
    loop.swept.push_back({.workers = seen.made.workers, .batches = batches, .time = time});
  }
  loop.service = service_of(seen.work);
  for (const double samples : {loop.service.samples, seen.made.samples, loop.alone.samples,
                               static_cast<double>(seen.made.batch.value_or(0))}) {
    if (loop.samples == 0) loop.samples = samples;
  }
  std::vector<Turn> turns = turns_of(seen, left_out);
  if (turns.size() > few_steps) turns.erase(turns.begin(), turns.begin() + warm_up);
  std::vector<double> steps, unwaited, receives;
  for (const Turn& turn : turns) {
    steps.push_back(turn.step);
    if (turn.full) receives.push_back(turn.cpu);
  }
  const double typical = median(steps), receive = median(receives);
  std::size_t at = 0;
  for (const Turn& turn : turns) {
    loop.time += turn.wait + turn.step;
    loop.waited += turn.wait;
    loop.pin += turn.pin;
    if (turn.first) {
      loop.starts += turn.wait;
      ++loop.started;
    }
    // A loop begins with full queues and slow steps, which are not typical of those that do not wait.
    const bool warm = 4 * ++at > steps.size();
    const double cpu = turn.full ? turn.cpu : receive;
    if (warm && turn.wait <= std::max({short_wait, 2 * cpu, waited_share * typical})) {
      unwaited.push_back(turn.step);
    }
  }
  loop.counted = turns.size();
  loop.pin /= std::max(1.0, static_cast<double>(turns.size()));
  if (seen.made.workers > 0) loop.receive = receive;
  loop.step_cpu = step_cpu_of(seen, left_out);
  // The mean, since every tenth step may take a hundred times as long. A device that works on while the loop waits makes
  // steps short that waited; then the others tell, but for those that did not wait because they were long.
  const double count = std::max(1.0, static_cast<double>(turns.size()));
  const double mean = (loop.time - loop.waited) / count;
  const double alone = median(unwaited);
  const bool enough =
      unwaited.size() >= std::max<std::size_t>(enough_unwaited, steps.size() / 10) &&
      alone >= mean && alone <= loop.time / count;
  loop.unwaited = enough ? unwaited.size() : 0;
  loop.step = enough ? alone : mean;

  std::vector<double> imports;
  for (const Epoch& epoch : seen.epochs) {
    imports.insert(imports.end(), epoch.imports.begin(), epoch.imports.end());
  }
  if (!imports.empty()) loop.imports = median(std::move(imports));
  if (loop.samples == 0 && !seen.epochs.empty() && !seen.epochs.front().steps.empty()) {
    loop.samples = static_cast<double>(seen.epochs.front().steps.front().samples.value_or(0));
  }
  return loop;
}

}  // namespace feedrate::tools
