#pragma once
// A loop as the probe would tell of it, made for tests: its figures are made up.

#include <string>

#include "tools/lab/diagnose/seen.h"

namespace feedrate::testing {

/// Workers with costs that are the same in every batch, and a loop that takes them in order.
struct MadeLoop {
  std::uint64_t workers = 2, batch = 10, epochs = 1, steps = 40;  // steps of an epoch
  double step = 0.01;                                             // seconds
  double wait = 0.03;                                             // of each step
  double start = 0.03;  // of an epoch, before its first batch
  double worker_start = 0.01;  // of that, with torch
  double torch = 0;
  double cpu = 0.07, blocked = 0, delay = 0;  // of a batch
  double put = 0, receive = 0, pin = 0, step_cpu = 0;
  double slow_wall = 0;  // of every tenth batch, if above 0
  std::uint64_t read = 0, tensors = 2, bytes = 1000, float_bytes = 0;
  std::map<std::string, tools::Span> spans{{"getitem", {0.07, 0.07, 10}}};
  std::string start_method = "fork";
  bool persistent = false, own_collate = false;

  tools::Seen seen() const {
    tools::Seen all;
    const auto add = [&](auto what, std::uint64_t loader) { all.add({1, loader, what}); };
    add(tools::PythonStarted{"3.11.7", "python train.py"}, 0);
    add(tools::TorchSeen{"2.6.0"}, 0);
    add(tools::LoaderMade{.where = "train.py:31",
                          .dataset = "Set",
                          .start = start_method,
                          .collate = "collate",
                          .batch = batch,
                          .workers = workers,
                          .persistent = persistent,
                          .own_collate = own_collate},
        1);
    double now = 100, process = 1;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const std::uint64_t worker = 100 + epoch;
      if (workers > 0) add(tools::IteratorMade{1, {worker}, std::nullopt}, 1);
      add(tools::EpochBegun{now, now + 0.001}, 1);
      if (workers > 0) all.add({worker, 0, tools::WorkerStarted{1, now + worker_start, torch}});
      for (std::uint64_t i = 0; i < steps; ++i) {
        tools::BatchMade made{.begin = now, .end = now + cpu + blocked + delay, .samples = batch};
        if (slow_wall > 0 && i % 10 == 5) made.end = now + slow_wall;
        made.cpu = cpu;
        made.delay = delay;
        made.put_cpu = put;
        made.puts = 1;
        made.read = {read, 0};
        made.leaves = {tensors, bytes, float_bytes};
        made.spans = spans;
        if (workers > 0) all.add({worker, 0, tools::BatchesMade{1, {made}}});
        if (workers == 0) add(tools::BatchesMade{0, {made}}, 1);
        const double waits = i == 0 ? start : wait;
        process += i == 0 ? 0 : step_cpu + receive;
        add(std::vector{tools::StepBegun{
                .begin = now, .end = now + waits, .cpu = receive, .process = process, .pin = pin}},
            1);
        now += waits + step;
      }
      add(tools::EpochEnded{now}, 1);
    }
    all.finish();
    return all;
  }
};

}  // namespace feedrate::testing
