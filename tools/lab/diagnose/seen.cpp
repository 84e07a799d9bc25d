#include "tools/lab/diagnose/seen.h"

#include <algorithm>
#include <iterator>

namespace feedrate::tools {

namespace {

template <class... Functions>
struct Cases : Functions... {
  using Functions::operator()...;
};

/// The two loaders are measured in turns.
void add_turn(std::optional<Supplied>& sum, const Supplied& turn) {
  if (!sum) sum = Supplied{.swapped = turn.swapped};
  sum->batches += turn.batches;
  sum->time += turn.time;
}

}  // namespace

void Work::add_parts(const BatchMade& batch) {
  if (batch.spans.empty()) return;
  ++detailed;
  detailed_wall += batch.end - batch.begin;
  detailed_cpu += batch.cpu;
  detailed_samples += batch.samples;
  for (const auto& [name, span] : batch.spans) spans[name] += span;
}

void Work::add(const BatchMade& batch) {
  if (batch.first) {
    if (firsts.size() < Seen::max_kept) firsts.push_back(batch);
    return;
  }
  add_parts(batch);
  if (batches.size() >= Seen::max_kept) return;
  batches.push_back(batch);
  batches.back().detailed = !batch.spans.empty();
  batches.back().spans.clear();
}

void Work::add(const Work& other) {
  detailed += other.detailed;
  detailed_wall += other.detailed_wall;
  detailed_cpu += other.detailed_cpu;
  detailed_samples += other.detailed_samples;
  for (const auto& [name, span] : other.spans) spans[name] += span;
  batches.insert(batches.end(), other.batches.begin(), other.batches.end());
  firsts.insert(firsts.end(), other.firsts.begin(), other.firsts.end());
}

void Work::settle() {
  const bool no_parts = detailed == 0, no_batches = batches.empty();
  for (BatchMade& batch : firsts) {
    if (no_parts) add_parts(batch);
    if (!no_batches) continue;
    batch.detailed = !batch.spans.empty();
    batch.spans.clear();
    batches.push_back(batch);
  }
  firsts.clear();
  std::ranges::sort(batches, {}, &BatchMade::begin);
}

double Epoch::known_end() const {
  if (ended) return *ended;
  return steps.empty() ? begun.end : steps.back().end;
}

std::vector<KnownStep> LoaderSeen::known_steps() const {
  const bool made_anew = std::ranges::all_of(
      epochs, [](const Epoch& epoch) { return epoch.steps.size() < 2 && !epoch.ended; });
  std::vector<KnownStep> found;
  for (std::size_t at = 0; at < epochs.size(); ++at) {
    const Epoch& epoch = epochs[at];
    std::optional<double> ended = epoch.ended;
    if (made_anew && at + 1 < epochs.size()) ended = epochs[at + 1].begun.begin;
    for (std::size_t i = 0; i < epoch.steps.size(); ++i) {
      const bool last = i + 1 == epoch.steps.size();
      if (last && !ended) continue;
      found.push_back({&epoch, &epoch.steps[i], last ? *ended : epoch.steps[i + 1].begin});
    }
  }
  return found;
}

LoaderSeen& Seen::loader_of(const ProbeEvent& event) {
  LoaderSeen& loader = loaders[{event.process, event.loader}];
  loader.process = event.process;
  return loader;
}

std::uint64_t Seen::run_of(std::uint64_t process) const {
  const auto found = runs_.find(process);
  return process + (found == runs_.end() ? 0 : found->second << 32);
}

void Seen::add(ProbeEvent event) {
  const std::uint64_t number = event.process;
  if (std::holds_alternative<ProcessSeen>(event.what) && !processes.insert(number).second) {
    ++runs_[number];
  }
  event.process = run_of(number);
  const auto last_epoch = [&]() -> Epoch* {
    LoaderSeen& loader = loader_of(event);
    return loader.epochs.empty() ? nullptr : &loader.epochs.back();
  };
  std::visit(Cases{[](std::monostate) {},
                   [&](const PythonStarted& what) { pythons.push_back(what); },
                   [&](const ProcessSeen& what) {
                     if (what.rank) ranks_[event.process] = *what.rank;
                   },
                   [&](const TorchSeen& what) { torch = what.version; },
                   [&](const LoaderMade& what) { loader_of(event).made = what; },
                   [&](const EpochBegun& what) {
                     loader_of(event).epochs.push_back({what, {}, {}, {}});
                   },
                   [&](const EpochEnded& what) {
                     if (Epoch* epoch = last_epoch()) epoch->ended = what.begin;
                   },
                   [&](const IteratorMade& what) {
                     for (const std::uint64_t worker : what.workers) {
                       iterators_[{run_of(what.parent), worker}] = {{event.process, event.loader},
                                                                    what.sweep};
                     }
                   },
                   [&](const WorkerStarted& what) {
                     started_.push_back({{run_of(what.parent), number}, what});
                   },
                   [&](const std::vector<StepBegun>& what) {
                     LoaderSeen& loader = loader_of(event);
                     for (const StepBegun& step : what) {
                       if (loader.steps++ < max_kept && !loader.epochs.empty()) {
                         loader.epochs.back().steps.push_back(step);
                       }
                     }
                   },
                   [&](const BatchesMade& what) {
                     Work& work = what.parent == 0
                                      ? loader_of(event).work
                                      : made_by_workers_[{run_of(what.parent), number}];
                     for (const BatchMade& batch : what.batches) work.add(batch);
                   },
                   [&](const Swept& what) { loader_of(event).sweep.points.push_back(what); },
                   [&](const SweepRefused& what) { refused = what.why; },
                   [&](const Paused& what) { pauses[event.process].push_back(what); },
                   [&](const Swapped& what) { loader_of(event).swap.made = what; },
                   [&](const SwapLeft& what) {
                     loader_of(event).swap.left = what.why;
                     loader_of(event).swap.made.reset();
                   },
                   [&](const PixelsDiffer& what) { loader_of(event).swap.pixels = what; },
                   [&](const Supplied& what) {
                     SwapSeen& swap = loader_of(event).swap;
                     if (what.time > 0) add_turn(what.swapped ? swap.after : swap.before, what);
                   },
                   [&](const StoodIn& what) { loader_of(event).swap.stood_in = what; },
                   [&](const SwapUnmeasured& what) { loader_of(event).swap.unmeasured = what.why; },
                   [&](const Trouble& what) { troubles.push_back(what.what); }},
             event.what);
}

void Seen::join_those_made_anew() {
  std::map<std::pair<std::uint64_t, std::string>, LoaderSeen*> last;  // by process and place
  for (auto one = loaders.begin(); one != loaders.end();) {
    LoaderSeen& loader = one->second;
    LoaderSeen*& before = last[{one->first.first, loader.made.where}];
    LoaderMade like = loader.made;
    if (before != nullptr) like.when = before->made.when;
    const bool anew = before != nullptr && like == before->made && loader.made.when > 0 &&
                      !before->epochs.empty() &&
                      before->epochs.back().known_end() <= loader.made.when && !loader.swap.made &&
                      !before->swap.made;
    if (!anew) {
      before = &loader;
      ++one;
      continue;
    }
    before->epochs.insert(before->epochs.end(), std::make_move_iterator(loader.epochs.begin()),
                          std::make_move_iterator(loader.epochs.end()));
    before->steps += loader.steps;
    before->times_made += 1;
    before->work.add(loader.work);
    one = loaders.erase(one);
  }
}

void Seen::finish() {
  const auto iterator_of = [&](const Worker& worker) -> const Iterator* {
    const auto found = iterators_.find(worker);
    return found == iterators_.end() ? nullptr : &found->second;
  };
  for (auto& [key, made] : made_by_workers_) {
    const Iterator* iterator = iterator_of(key);
    if (iterator == nullptr) continue;
    LoaderSeen& loader = loaders[iterator->loader];
    (iterator->sweep ? loader.sweep.work[*iterator->sweep] : loader.work).add(made);
  }
  for (const auto& [key, worker] : started_) {
    const Iterator* iterator = iterator_of(key);
    if (iterator == nullptr || iterator->sweep) continue;
    // Of the epochs that had begun, the last one.
    std::vector<Epoch>& epochs = loaders[iterator->loader].epochs;
    const auto after = std::find_if(epochs.begin(), epochs.end(), [&](const Epoch& epoch) {
      return epoch.begun.begin > worker.begin;
    });
    if (after == epochs.begin()) continue;
    Epoch& epoch = *std::prev(after);
    epoch.imports.push_back(worker.begin - worker.torch - epoch.begun.begin);
  }
  join_those_made_anew();
  for (auto& [key, loader] : loaders) {
    if (const auto rank = ranks_.find(key.first); rank != ranks_.end()) loader.rank = rank->second;
    loader.work.settle();
    for (auto& [workers, work] : loader.sweep.work) work.settle();
  }
  made_by_workers_.clear();
}

}  // namespace feedrate::tools
