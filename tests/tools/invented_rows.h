#pragma once
// A whole bench made by hand, for looking at reports. Test data: nothing here was measured.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/tools/rows.h"

namespace feedrate::testing {
using namespace tools;

namespace invented {

struct Invented {
  std::string dataset, digest, network, device;
  std::uint32_t batch = 0;
  double demand = 0;
};

struct Stages {
  std::string format, codec;
  double read_us = 0, decode_us = 0, augment_us = 0;
};

/// As long as a SHA-256.
inline std::string digest_of(const std::string& eight) {
  std::string digest;
  for (unsigned i = 0; i < 8; ++i) digest += eight;
  return digest;
}

inline Run row(const Invented& study, const Stages& stages, unsigned threads, double rate) {
  Run run = supply(stages.format, threads, std::round(rate));
  run.dataset = "data/" + study.dataset + "/" + stages.format;
  run.codec = stages.codec;
  run.digest = study.digest;
  run.batch = study.batch;
  run.read_us = stages.read_us;
  run.decode_us = stages.decode_us;
  run.augment_us = stages.augment_us;
  run.cpu_us = stages.read_us + stages.decode_us + stages.augment_us;
  run.warmup_seconds = 0.4;
  run.telemetry.peak_rss_mib = 120 + 30.0 * threads;
  run.telemetry.cpu_seconds = 12;
  run.environment.gpu = "an invented GPU";
  return run;
}

inline Run trained(Run run, const Invented& study) {
  run.kind = delivered_kind;
  run.network = study.network;
  run.device = study.device;
  run.precision = "fp32";
  run.compute_threads = 8;
  run.stall_percent = std::max(0.1, 100 - 100 * run.images_per_second / study.demand);
  run.wait_ms = run.batch / run.images_per_second * 10 * *run.stall_percent;
  if (study.device == "cuda") {
    run.telemetry.gpu_memory_mib = 1200;
    run.telemetry.gpu_power_w = 60 + 240 * run.images_per_second / study.demand;
    run.telemetry.gpu_energy_j = 3 * *run.telemetry.gpu_power_w;
    run.telemetry.cpu_seconds = 3e-6 * run.images_per_second * *run.cpu_us;
    run.telemetry.cpu_energy_j = 3 * 95;
    run.telemetry.planned_memory_mib = 870;
    run.telemetry.gpu_utilisation_percent = 97 * run.images_per_second / study.demand;
    run.telemetry.gpu_clock_mhz = 1410;
    run.telemetry.gpu_throttle = "none";
    run.telemetry.upload_gb_per_s = 11.5;
    run.telemetry.upload_seconds = 3e-6 * run.images_per_second * 13;
  }
  return run;
}

inline void add(std::vector<Run>& runs, const Invented& study, const Stages& stages) {
  const double one = 1e6 / (stages.read_us + stages.decode_us + stages.augment_us);
  for (const unsigned threads : {0U, 1U, 2U, 4U, 8U}) {
    const double supplied = one * std::pow(std::max(1U, threads), 0.93);
    runs.push_back(row(study, stages, threads, supplied));
    runs.back().predicted = one * std::max(1U, threads) * 0.97;
    // Neither meets the other's rate quite where both are near.
    const double together = std::pow(std::pow(supplied, -6) + std::pow(study.demand, -6), -1.0 / 6);
    const double in_turn = 1 / (1 / one + 1 / study.demand);
    const double delivered = threads == 0 ? in_turn : together;
    runs.push_back(trained(row(study, stages, threads, delivered), study));
    runs.back().predicted =
        threads == 0 ? in_turn * 1.02 : std::min(*runs[runs.size() - 2].predicted, study.demand);
  }
}

}  // namespace invented

/// Two datasets, three formats, five thread counts, another tool and a cold start: every part of a
/// report has something to show.
inline std::vector<Run> invented_bench() {
  using namespace invented;
  const Invented photographs{"imagenet", digest_of("aa11bb22"), "resnet50", "cuda", 128, 2900};
  const Invented small{"cifar10", digest_of("01234567"), "vgg16:cifar", "cpu", 128, 350};
  const std::vector<Stages> encoded{{"lmdb", "jpeg", 30, 1150, 140},
                                    {"recordio", "jpeg", 22, 1130, 140},
                                    {"lmdb", "raw", 95, 0, 160}};
  std::vector<Run> runs;
  for (const Stages& stages : encoded) add(runs, photographs, stages);
  for (const char* format : {"lmdb", "recordio", "png-map"}) {
    add(runs, small, {format, "raw", 2, format[0] == 'p' ? 90.0 : 1.0, 4});
  }
  for (const Invented& study : {photographs, small}) {
    Run run = trained(row(study, encoded[0], 0, study.demand), study);
    run.kind = demand_kind;
    run.threads = run.workers_seen = {};
    run.stall_percent = run.wait_ms = run.read_us = run.decode_us = run.augment_us = {};
    runs.push_back(run);
    if (study.device == "cuda") {
      Run compute = run;
      compute.kind = compute_kind;
      compute.repeats = {compute.images_per_second *= 1.04};
      runs.push_back(compute);
    }
    run.tool = "pytorch";
    run.repeats = {run.images_per_second *= 0.8};
    if (study.device == "cuda") runs.push_back(run);
  }
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    Run peer =
        trained(row(photographs, encoded[0], threads, 520 * std::pow(threads, 0.7)), photographs);
    peer.tool = "pytorch";
    peer.stall_percent = std::max(0.1, 100 - 100 * peer.images_per_second / 2320);
    peer.read_us = peer.decode_us = peer.augment_us = {};
    runs.push_back(peer);
    Run cold =
        trained(row(photographs, encoded[2], threads, 400 * std::pow(threads, 0.5)), photographs);
    cold.cache = cold_cache;
    runs.push_back(cold);
  }
  return runs;
}

}  // namespace feedrate::testing
