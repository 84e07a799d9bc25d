#pragma once
// What the noise of the rounds leaves open of a verdict: the one place that decides it, for every page,
// text and --json. Pure functions.

#include <cstdint>
#include <vector>

#include "loader/verdict.h"
#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

/// Fewer tell nothing about the noise.
inline constexpr std::size_t min_rounds = 3;

/// What the rounds tell of two points.
struct Difference {
  enum class Outcome : std::uint8_t {
    none,   // as fast: at most as far apart as loader::as_fast_as() ever tolerates
    apart,  // one is slower
    open,   // either, or too few rounds
  };
  Outcome outcome = Outcome::open;
  std::size_t repeats = min_rounds;  // that would decide where it is open, about
};

/// Points of a study are measured in turns, each once a round, so they are compared round by round.
Difference difference(const Point& one, const Point& other);

/// The fewest threads of a curve's points, fewer than this one's, that the rounds do not tell to be slower; as
/// many as its own where there are none.
unsigned fewest_threads(const std::vector<Point>& points, const Point& point);

/// Limits other than the one found.
struct OtherLimits {
  std::vector<loader::Limit> limits;
  std::size_t repeats = 0;  // that would rule them out, about
};

/// Those that hold if what was compared with demand was as slow or as fast as the rounds leave open.
OtherLimits other_limits(const loader::Verdict& found, const Curve& curve, const Point& point);

}  // namespace feedrate::tools
