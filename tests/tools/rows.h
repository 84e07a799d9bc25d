#pragma once
// Rows made by hand. Test data: nothing here was measured.

#include <string>
#include <vector>

#include "tools/lab/measure/row.h"

namespace feedrate::testing {
using namespace tools;

inline Environment invented_environment() {
  return {.cpu = "an invented processor",
          .cores = 8,
          .cores_present = 8,
          .quota = {},
          .memory_mib = 16384,
          .os = "no system",
          .kernel = "none",
          .compiler = "none",
          .build_type = "Release",
          .flags = "",
          .commit = "0123456",
          .version = "0.0.0",
          .libraries = "none",
          .gpu = {},
          .gpu_driver = {},
          .cuda = {},
          .cudnn = {},
          .file_system = {},
          .mount_options = {},
          .disk = {},
          .disk_rotational = {},
          .command = "feedrate bench",
          .time = "2001-02-03T04:05:06Z"};
}

inline Run supply(const std::string& format, unsigned threads, double rate) {
  Run run;
  run.kind = supply_kind;
  run.dataset = "data/" + format;
  run.format = format;
  run.codec = "raw";
  run.recipe = "none";
  run.batch = 64;
  run.threads = threads;
  run.workers_seen = threads;
  run.repeats = {rate * 0.995, rate, rate * 1.005};
  run.images_per_second = rate;
  run.digest = "d1";
  run.environment = invented_environment();
  return run;
}

inline Run demand(double rate) {
  Run run = supply("lmdb", 0, rate);
  run.kind = demand_kind;
  run.network = "lenet";
  run.device = "cpu";
  run.precision = "fp32";
  run.threads = {};
  run.workers_seen = {};
  return run;
}

inline Run delivered(const std::string& format, unsigned threads, double rate, double stall) {
  Run run = supply(format, threads, rate);
  run.kind = delivered_kind;
  run.network = "lenet";
  run.device = "cpu";
  run.precision = "fp32";
  run.stall_percent = stall;
  return run;
}

/// The same row with repeats that spread by `percent` around its median.
inline Run spread(Run run, double percent) {
  const double half = run.images_per_second * percent / 200;
  run.repeats = {run.images_per_second - half, run.images_per_second, run.images_per_second + half};
  return run;
}

}  // namespace feedrate::testing
