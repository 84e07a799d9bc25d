#pragma once
// Point: one measured rate and what an image cost there. What was not measured is absent.

#include <optional>
#include <vector>

#include "formats/base/statistics.h"
#include "tools/measure/row.h"

namespace feedrate::tools {

struct Point {
  unsigned threads = 0;
  double rate = 0;  // images/s, median
  double low = 0;   // slowest and fastest repeat
  double high = 0;
  std::vector<double> repeats;
  std::optional<double> stall;  // percent
  std::optional<unsigned> workers_seen;
  std::optional<double> predicted;  // images/s, told before it was measured
  std::optional<double> read_us;    // of a worker for an image
  std::optional<double> decode_us;
  std::optional<double> augment_us;
  std::optional<double> cpu_us;  // of the processor for an image
  std::optional<double> peak_rss_mib;
  std::optional<double> planned_memory_mib;
  std::optional<double> gpu_own_memory_mib;
  std::optional<double> gpu_memory_mib;
  std::optional<double> gpu_power_w;
  std::optional<double> gpu_joules;  // for an image
  std::optional<double> cpu_joules;  // for an image, of the processor packages
  std::optional<double> upload_gb_per_s;

  /// (high − low) / rate.
  double spread() const { return rate > 0 ? (high - low) / rate : 0; }
  /// |predicted − rate| / rate, in percent.
  std::optional<double> prediction_error() const;
  /// Where the mean lies with 95 % confidence; absent for fewer than two repeats.
  std::optional<formats::Interval> interval() const { return formats::mean_interval(repeats); }
};

/// Rows of the same point (at least one), possibly of several benches, as one: rates pooled, the
/// rest the median of what was measured.
Point pool(const std::vector<const Run*>& runs);

/// The point with so many threads, or null.
const Point* at_threads(const std::vector<Point>& points, unsigned threads);

}  // namespace feedrate::tools
