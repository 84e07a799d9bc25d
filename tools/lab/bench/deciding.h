#pragma once
// Whether a bench goes on, because its rounds do not yet tell which formats are slower, or what the
// limit is.

#include <chrono>
#include <optional>
#include <vector>

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// A budget of time for further rounds. Not thread-safe.
class Deciding {
 public:
  explicit Deciding(double seconds) : left_(seconds) {}
  /// Asked after a round, with the rows of one machine; their environment does not matter. Whether
  /// time is left and a study is undecided. The time until the next question is spent where it is.
  bool goes_on(std::vector<Row> rows);
  /// Seconds of the budget.
  double left() const { return left_; }

 private:
  using Clock = std::chrono::steady_clock;
  double left_;
  std::optional<Clock::time_point> begun_;  // the round that it granted
};

}  // namespace feedrate::tools
