#pragma once
// The answer that the rows give to "how many threads, which format", and why.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/study/study.h"

namespace feedrate::tools {

/// What keeps images/s from rising.
enum class Limit : std::uint8_t {
  trainer,  // data is always there in time
  loader,   // the trainer waits for data
  cores,    // no waiting, yet below demand: loader and trainer share too few cores
  unknown,  // not measured
};
std::string_view name_of(Limit limit);

struct StudyVerdict {
  std::string answer;  // "1 loader thread, lmdb × raw"
  std::string reason;  // sentences with the figures behind it
  Limit limit = Limit::unknown;
  std::string format;  // of the point chosen; "" when nothing could be chosen
  unsigned threads = 0;
  double rate = 0;                   // delivered there (supply, when nothing was trained)
  std::optional<double> demand;      // what the trainer could take
  std::optional<double> stall;       // percent of the trainer's time there
  std::vector<std::string> as_good;  // other formats that do as well
};

/// Of a curve's points (at least one, by rising thread count) the first that is as good as the
/// fastest: within 3 %, or within the spread of the repeats up to 10 %.
const Point& knee(const std::vector<Point>& points);

/// The knee of what a curve delivered, or of its supply where nothing of the study was trained;
/// null for neither.
const Point* shown_knee(const Study& study, const Curve& curve);

/// Each format at the knee of what it delivers, then the format that delivers most there; what
/// counts as no difference is the same as for the knee.
StudyVerdict judge(const Study& study);

/// Its rate in percent of demand; absent where there is no demand to compare with.
std::optional<double> percent_of_demand(const StudyVerdict& verdict);

/// "no loader threads", "1 loader thread"
std::string loader_threads(unsigned threads);

/// Answer and reason in one line.
std::string sentence(const Study& study, const StudyVerdict& verdict);

}  // namespace feedrate::tools
