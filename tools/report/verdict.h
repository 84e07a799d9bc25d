#pragma once
// The answer that the rows give to "how many threads, which format", and why.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/study.h"

namespace feedrate {

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

/// The fewest threads whose delivered rate is within 3 % of the format's best, then the format that
/// delivers most there; differences smaller than the spread of the repeats, up to 10 %, count as
/// none.
Verdict judge(const Study& study);

/// Answer and reason in one line.
std::string sentence(const Study& study, const Verdict& verdict);

}  // namespace feedrate
