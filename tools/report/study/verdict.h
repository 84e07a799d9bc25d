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

struct Verdict {
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

/// The images/s that count as the fastest for the knee: it is the first point in this band.
struct Band {
  double low = 0;
  double high = 0;
};
Band knee_band(const std::vector<Point>& points);

/// Each format at the knee of what it delivers, then the format that delivers most there; what
/// counts as no difference is the same as for the knee.
Verdict judge(const Study& study);

/// Its rate in percent of demand; absent where there is no demand to compare with.
std::optional<double> percent_of_demand(const Verdict& verdict);

/// Answer and reason in one line.
std::string sentence(const Study& study, const Verdict& verdict);

}  // namespace feedrate::tools
