#pragma once
// Point: a measured rate and the cost of an image at it. Absent: not measured.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/statistics.h"
#include "loader/verdict.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {

struct Point {
  unsigned threads = 0;
  unsigned computing = 0;  // threads of the trainer: all cores unless told; 1 drives a device
  unsigned cores = 0;
  double rate = 0;  // images/s, median
  double low = 0;   // slowest repeat
  double high = 0;  // fastest repeat
  std::vector<double> repeats;
  std::vector<std::string> benches;  // the command that measured each repeat
  std::optional<double> stall;       // percent
  std::optional<unsigned> workers_seen;
  std::optional<double> predicted;  // images/s, predicted before measuring
  std::optional<double> read_us;    // a worker's time per image
  std::optional<double> decode_us;
  std::optional<double> augment_us;
  std::optional<double> cpu_us;     // processor time per image
  std::optional<double> kernel_us;  // of it, in the kernel
  std::optional<double> ran;        // of crowded rows: the share of a core: see ran_while_crowded()
  std::optional<std::string> cause;  // of a script; where rows differ, what the last one says
  std::optional<double> peak_rss_mib;
  std::optional<double> planned_memory_mib;
  std::optional<double> gpu_own_memory_mib;
  std::optional<double> gpu_memory_mib;
  std::optional<double> gpu_power_w;
  std::optional<double> gpu_joules;  // per image
  std::optional<double> cpu_joules;  // per image, of the processor packages
  std::optional<double> upload_gb_per_s;
  // Of a request to the dataset's server.
  std::optional<double> request_ms;  // the middle one
  std::optional<double> request_ms_p99;
  std::optional<double> request_cpu_us;  // of the thread that fetches
  std::optional<double> repeated;        // sent again, of a run
  std::optional<double> connections;     // at most

  /// (high − low) / rate; absent for a single repeat.
  std::optional<double> spread() const {
    return rate > 0 && repeats.size() > 1 ? std::optional((high - low) / rate) : std::nullopt;
  }
  loader::Rate as_rate() const { return {rate, spread().value_or(0)}; }
  /// |predicted − rate| / rate, in percent.
  std::optional<double> prediction_error() const;
  /// 95 % confidence interval of the mean; absent for fewer than three repeats, whose interval would
  /// be so wide that it says nothing.
  std::optional<formats::Interval> interval() const {
    return repeats.size() < 3 ? std::nullopt : formats::mean_interval(repeats);
  }
};

/// Merges rows (at least one) of the same point, possibly from several benches: pools their rates
/// and takes the median of every other value.
Point pool(const std::vector<const Row*>& rows);

/// Whether the same benches measured both, as often: then the repeats of one number are of one round.
bool share_rounds(const Point& one, const Point& other);

/// The point with this many threads, or null.
const Point* at_threads(const std::vector<Point>& points, unsigned threads);

}  // namespace feedrate::tools
