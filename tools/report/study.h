#pragma once
// Rows brought together into what a person compares: for one way of training, a curve for each
// format and the rate the trainer could take.

#include <optional>
#include <string>
#include <vector>

#include "tools/row.h"

namespace feedrate {

/// One measured rate.
struct Point {
  unsigned threads = 0;
  double rate = 0;  // images/s, median
  double low = 0;   // slowest and fastest repeat
  double high = 0;
  std::optional<double> stall;  // percent
  std::optional<unsigned> workers_seen;

  /// (high − low) / rate.
  double spread() const { return rate > 0 ? (high - low) / rate : 0; }
};

/// One format, by rising thread count.
struct Curve {
  std::string format;  // "lmdb × raw"
  std::vector<Point> supply;
  std::vector<Point> delivered;
};

/// One network on one device: all that a verdict needs. Without a network: supply alone.
struct Study {
  std::string network;  // "" when only supply was measured
  std::string device;
  std::string precision;
  std::string recipe;
  std::uint32_t batch = 0;
  std::optional<Point> demand;
  std::vector<Curve> curves;

  /// "lenet on cpu, fp32, batch 64"
  std::string title() const;
};

/// Repeats of the same point in several rows are pooled. Throws Error when the rows are of
/// different images: their rates do not compare.
std::vector<Study> make_studies(const std::vector<Run>& runs);

/// Sentences about what makes these rows doubtful: a debug build, more threads than cores, a wide
/// spread, workers that never came, several machines or commits in one file, more delivered than
/// the trainer can take.
std::vector<std::string> doubts(const std::vector<Run>& runs, const std::vector<Study>& studies);

}  // namespace feedrate
