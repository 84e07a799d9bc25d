#include "tools/lab/diagnose/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/lab/diagnose/kept_out.h"

namespace feedrate::tools {

namespace {

constexpr std::uint64_t enough_steps = 8;
constexpr double ranks_differ = 0.1;  // in the share of time that they wait
constexpr std::string_view about_wrap =
    "For another loop, write 'import feedrate.diagnose' and loop over "
    "'feedrate.diagnose.wrap(batches)'.";

std::string nothing_seen(const Seen& seen, const std::vector<std::string>& command) {
  if (!seen.kept_out.empty()) return seen.kept_out;
  if (seen.pythons.empty()) {
    if (const std::string word = keeps_probe_out(command); !word.empty()) {
      return fmt::format(
          "with {}, Python reads no PYTHONPATH, which keeps the probe out: run it without.", word);
    }
    return fmt::format("{} started no Python that reads PYTHONPATH, so nothing was seen.",
                       command.front());
  }
  if (seen.torch.empty()) {
    return fmt::format("Python {} ran, but loaded no data with PyTorch. {}",
                       seen.pythons.front().version, about_wrap);
  }
  return fmt::format("PyTorch {} was there, but no DataLoader was iterated. {}", seen.torch,
                     about_wrap);
}

/// Of the loops like the first one, in processes of other ranks.
std::optional<SlowestRank> slowest_rank(const Diagnosis& found) {
  const Loop& loop = found.loops.front();
  if (!loop.rank) return {};
  SlowestRank slowest{.rank = *loop.rank, .ranks = 1, .wait_share = loop.wait_share()};
  for (const Loop& other : found.loops) {
    if (!other.rank || *other.rank == *loop.rank || other.made.where != loop.made.where) continue;
    slowest.others_wait_share += other.wait_share();
    ++slowest.ranks;
  }
  if (slowest.ranks < 2) return {};
  slowest.others_wait_share /= static_cast<double>(slowest.ranks - 1);
  if (slowest.wait_share - slowest.others_wait_share < ranks_differ) return {};
  if (!found.causes.empty()) slowest.cause = found.causes.front().kind;
  return slowest;
}

}  // namespace

std::vector<std::uint64_t> numbers_of_workers(double cores) {
  const auto most = static_cast<std::uint64_t>(std::max(1.0, std::ceil(cores)));
  std::vector<std::uint64_t> numbers{0};
  for (std::uint64_t workers = 1; workers < most; workers *= 2) numbers.push_back(workers);
  numbers.push_back(most);
  return numbers;
}

Restarted restarted(const Diagnosis& found, std::uint64_t workers, const Seen& seen) {
  const Loop& loop = found.loops.front();
  const OtherLoops others(seen);
  Restarted now{.workers = workers, .predicted = found.of_loop.delivered(workers)};
  for (const auto& [key, loader] : seen.loaders) {
    if (loader.made.where != loop.made.where || loader.rank != loop.rank) continue;
    const Loop then = loop_of(loader, others.left_out_of(loader));
    if (then.counted < enough_steps) continue;
    now.delivered = static_cast<double>(then.counted) * loop.samples / then.time;
    now.wait_share = then.wait_share();
  }
  if (!now.delivered) {
    now.problem = fmt::format("it took fewer than {} steps of this loop", enough_steps);
  }
  return now;
}

Diagnosis diagnose(const Seen& seen, const std::vector<std::string>& command, double cores) {
  Diagnosis found{.command = command, .cores = cores};
  if (!seen.pythons.empty()) found.python = seen.pythons.front().version;
  found.torch = seen.torch;
  const OtherLoops others(seen);
  for (const auto& [key, loader] : seen.loaders) {
    if (loader.steps > 0) found.loops.push_back(loop_of(loader, others.left_out_of(loader)));
  }
  if (found.loops.empty()) {
    found.problem = nothing_seen(seen, command);
    return found;
  }
  // The loop that takes most of the time, and of ranks that run it together, the one that waits.
  const auto longest = std::ranges::max_element(found.loops, {}, &Loop::time);
  const auto main_loop = std::ranges::max_element(found.loops, {}, [&](const Loop& loop) {
    const bool of_rank = longest->rank && loop.rank && loop.made.where == longest->made.where;
    return of_rank ? loop.waited : &loop == &*longest ? 0.0 : -1.0;
  });
  std::iter_swap(found.loops.begin(), main_loop);
  const Loop& loop = found.loops.front();
  if (loop.counted < enough_steps) {
    found.problem =
        fmt::format("the longest loop took {} of at least {} steps: too few to measure.",
                    loop.counted, enough_steps);
    return found;
  }
  // What one worker was measured to do, beside nothing else, predicts best.
  Service service = loop.service;
  double receive = loop.receive;
  if (loop.alone.batches > 2) {
    service = loop.alone;
    found.busy = service.wall > 0 ? service.delay / service.wall : 0;
    for (const Swept& one : loop.swept) {
      if (one.workers == 1 && one.cpu > 0) receive = one.cpu / static_cast<double>(one.batches);
    }
  }
  found.costs = costs_of(service, receive, cores);
  if (service.batches > 0) found.curve = curve_of(found.costs, loop.swept);
  found.no_sweep = seen.refused;
  const auto paused = std::ranges::find_if(
      seen.loaders, [](const auto& one) { return !one.second.sweep.points.empty(); });
  if (loop.swept.empty() && paused != seen.loaders.end()) {
    const LoaderMade& made = paused->second.made;
    found.no_sweep =
        made.where == loop.made.where
            ? fmt::format("the pause came in the loop over another loader of {}", made.where)
            : fmt::format("the pause came in the loop over the {} of {}", made.dataset, made.where);
  }
  Costs costs = costs_of(loop.service, loop.receive, cores);
  costs.step = loop.step;
  costs.step_cpu = loop.step_cpu;
  found.of_loop = costs;
  found.causes = causes_of({loop, costs});
  found.slowest = slowest_rank(found);
  return found;
}

}  // namespace feedrate::tools
