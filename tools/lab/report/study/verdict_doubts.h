#pragma once
// What the noise of the rounds leaves open of a verdict: the one place that decides it, for every page,
// text and --json. Pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/verdict.h"
#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

/// Fewer tell nothing about the noise.
inline constexpr std::size_t min_rounds = 3;

/// More are not considered: where none is found that decides, this one stands for them.
inline constexpr std::size_t max_repeats = 99;

/// What the rounds tell of two points.
struct Difference {
  enum class Outcome : std::uint8_t {
    none,   // as fast: at most as far apart as loader::as_fast_as() ever tolerates
    apart,  // one is slower, by more than it always tolerates
    open,   // either, or too few rounds
  };
  Outcome outcome = Outcome::open;
  std::size_t repeats = min_rounds;  // that would decide where it is open, about
};

/// Points of which any two may be compared: in one of twenty such sets at the most, two of the same rate are told
/// apart.
struct Compared {
  std::size_t pairs = 1;
  /// How far the logarithms of two mean rates have to be apart, by the noise of all points. Absent where they
  /// do not share their rounds.
  std::optional<double> least{};
};
Compared compared(const std::vector<const Point*>& points);
std::vector<const Point*> pointers(const std::vector<Point>& points);

/// Points of a study are measured in turns, each once a round, so they are compared round by round: when the
/// machine becomes slower or faster for all of them, that does not count as noise.
Difference difference(const Point& one, const Point& other, const Compared& among = {});

/// How far the repeats lie apart once a drift that both points share is taken out: at most as far as those of
/// either.
double paired_spread(const Point& one, const Point& other);

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
