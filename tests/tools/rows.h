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

inline Row supply(const std::string& format, unsigned threads, double rate) {
  Row row;
  row.kind = supply_kind;
  row.dataset = "data/" + format;
  row.format = format;
  row.codec = "raw";
  row.recipe = "none";
  row.batch = 64;
  row.threads = threads;
  row.workers_seen = threads;
  row.repeats = {rate * 0.995, rate, rate * 1.005};
  row.images_per_second = rate;
  row.digest = "d1";
  row.environment = invented_environment();
  return row;
}

inline Row demand(double rate) {
  Row row = supply("lmdb", 0, rate);
  row.kind = demand_kind;
  row.network = "lenet";
  row.device = "cpu";
  row.precision = "fp32";
  row.threads = {};
  row.workers_seen = {};
  return row;
}

inline Row delivered(const std::string& format, unsigned threads, double rate, double stall) {
  Row row = supply(format, threads, rate);
  row.kind = delivered_kind;
  row.network = "lenet";
  row.device = "cpu";
  row.precision = "fp32";
  row.stall_percent = stall;
  return row;
}

/// The same row with repeats that spread by `percent` around its median.
inline Row spread(Row row, double percent) {
  const double half = row.images_per_second * percent / 200;
  row.repeats = {row.images_per_second - half, row.images_per_second, row.images_per_second + half};
  return row;
}

}  // namespace feedrate::testing
