#pragma once
// The verdict of a study: how many loader threads, which format, and why.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/study/study.h"

namespace feedrate::tools {

/// The bottleneck.
enum class Limit : std::uint8_t {
  trainer,  // it gets data without waiting
  loader,   // the trainer waits for data
  cores,    // no waiting, yet below demand: loader and trainer compete for cores
  unknown,  // neither demand nor stall was measured
};
std::string_view name_of(Limit limit);

struct StudyVerdict {
  std::string answer;  // "1 loader thread, lmdb × raw"
  std::string reason;  // a few sentences with figures
  Limit limit = Limit::unknown;
  std::string format;  // of the chosen point; "" when there is nothing to choose
  unsigned threads = 0;
  double rate = 0;                   // delivered; supply when nothing was trained
  std::optional<double> demand;      // images/s
  std::optional<double> stall;       // percent of training time
  std::vector<std::string> as_good;  // other formats that are as fast
};

/// The first of a curve's points (at least one, by rising thread count) that is as fast as the
/// fastest: within 3 %, or within the spread of their repeats up to 10 %.
const Point& knee(const std::vector<Point>& points);

/// The knee of delivered; of supply when the study trained nothing. Null when there is no point.
const Point* shown_knee(const Study& study, const Curve& curve);

/// Takes each format at its knee and chooses the fastest. Among formats that are as fast, by the
/// same tolerance as for the knee, fewer threads win, then more supply.
StudyVerdict judge(const Study& study);

/// Its rate in percent of demand; absent without demand.
std::optional<double> percent_of_demand(const StudyVerdict& verdict);

/// "no loader threads", "1 loader thread"
std::string loader_threads(unsigned threads);

/// Title, answer and reason in one line.
std::string sentence(const Study& study, const StudyVerdict& verdict);

}  // namespace feedrate::tools
