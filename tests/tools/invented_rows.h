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

inline Row loaded(const Invented& study, const Stages& stages, unsigned threads, double rate) {
  Row row = supply(stages.format, threads, std::round(rate));
  row.dataset = "data/" + study.dataset + "/" + stages.format;
  row.codec = stages.codec;
  row.digest = study.digest;
  row.batch = study.batch;
  row.read_us = stages.read_us;
  row.decode_us = stages.decode_us;
  row.augment_us = stages.augment_us;
  row.cpu_us = stages.read_us + stages.decode_us + stages.augment_us;
  row.warmup_seconds = 0.4;
  row.telemetry.peak_rss_mib = 120 + 30.0 * threads;
  row.telemetry.cpu_seconds = 12;
  row.environment.gpu = "an invented GPU";
  return row;
}

inline Row trained(Row row, const Invented& study) {
  row.kind = delivered_kind;
  row.network = study.network;
  row.device = study.device;
  row.precision = "fp32";
  row.compute_threads = 8;
  row.stall_percent = std::max(0.1, 100 - 100 * row.images_per_second / study.demand);
  row.wait_ms = row.batch / row.images_per_second * 10 * *row.stall_percent;
  if (study.device == "cuda") {
    row.telemetry.gpu_memory_mib = 1200;
    row.telemetry.gpu_power_w = 60 + 240 * row.images_per_second / study.demand;
    row.telemetry.gpu_energy_j = 3 * *row.telemetry.gpu_power_w;
    row.telemetry.cpu_seconds = 3e-6 * row.images_per_second * *row.cpu_us;
    row.telemetry.cpu_energy_j = 3 * 95;
    row.telemetry.planned_memory_mib = 870;
    row.telemetry.gpu_utilisation_percent = 97 * row.images_per_second / study.demand;
    row.telemetry.gpu_clock_mhz = 1410;
    row.telemetry.gpu_throttle = "none";
    row.telemetry.upload_gb_per_s = 11.5;
    row.telemetry.upload_seconds = 3e-6 * row.images_per_second * 13;
  }
  return row;
}

inline void add(std::vector<Row>& rows, const Invented& study, const Stages& stages) {
  const double one = 1e6 / (stages.read_us + stages.decode_us + stages.augment_us);
  for (const unsigned threads : {0U, 1U, 2U, 4U, 8U}) {
    const double supplied = one * std::pow(std::max(1U, threads), 0.93);
    rows.push_back(loaded(study, stages, threads, supplied));
    rows.back().predicted = one * std::max(1U, threads) * 0.97;
    // Neither meets the other's rate quite where both are near.
    const double together = std::pow(std::pow(supplied, -6) + std::pow(study.demand, -6), -1.0 / 6);
    const double in_turn = 1 / (1 / one + 1 / study.demand);
    const double delivered = threads == 0 ? in_turn : together;
    rows.push_back(trained(loaded(study, stages, threads, delivered), study));
    rows.back().predicted =
        threads == 0 ? in_turn * 1.02 : std::min(*rows[rows.size() - 2].predicted, study.demand);
  }
}

}  // namespace invented

/// Two datasets, three formats, five thread counts, another tool and a cold start: every part of a
/// report has something to show.
inline std::vector<Row> invented_bench() {
  using namespace invented;
  const Invented photographs{"imagenet", digest_of("aa11bb22"), "resnet50", "cuda", 128, 2900};
  const Invented small{"cifar10", digest_of("01234567"), "vgg16:cifar", "cpu", 128, 350};
  const std::vector<Stages> encoded{{"lmdb", "jpeg", 30, 1150, 140},
                                    {"recordio", "jpeg", 22, 1130, 140},
                                    {"lmdb", "raw", 95, 0, 160}};
  std::vector<Row> rows;
  for (const Stages& stages : encoded) add(rows, photographs, stages);
  for (const char* format : {"lmdb", "recordio", "png-map"}) {
    add(rows, small, {format, "raw", 2, format[0] == 'p' ? 90.0 : 1.0, 4});
  }
  for (const Invented& study : {photographs, small}) {
    Row row = trained(loaded(study, encoded[0], 0, study.demand), study);
    row.kind = demand_kind;
    row.threads = row.workers_seen = {};
    row.stall_percent = row.wait_ms = row.read_us = row.decode_us = row.augment_us = {};
    rows.push_back(row);
    if (study.device == "cuda") {
      Row compute = row;
      compute.kind = compute_kind;
      compute.repeats = {compute.images_per_second *= 1.04};
      rows.push_back(compute);
    }
    row.tool = "pytorch";
    row.repeats = {row.images_per_second *= 0.8};
    if (study.device == "cuda") rows.push_back(row);
  }
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    Row peer = trained(loaded(photographs, encoded[0], threads, 520 * std::pow(threads, 0.7)),
                       photographs);
    peer.tool = "pytorch";
    peer.stall_percent = std::max(0.1, 100 - 100 * peer.images_per_second / 2320);
    peer.read_us = peer.decode_us = peer.augment_us = {};
    rows.push_back(peer);
    Row cold = trained(loaded(photographs, encoded[2], threads, 400 * std::pow(threads, 0.5)),
                       photographs);
    cold.cache = cold_cache;
    rows.push_back(cold);
  }
  return rows;
}

}  // namespace feedrate::testing
