#pragma once
// What the noise of the repeats leaves open of a verdict: the one place that decides it, for every page,
// text and --json. Pure functions.

#include <cstdint>
#include <optional>
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
    apart,  // one is slower, by more than it always tolerates
    open,   // either, or too few rounds
  };
  Outcome outcome = Outcome::open;
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

/// How far the ratio of two rates may be off, as a share: by its 95 % interval; by the spread of the repeats where
/// those are too few for one.
double ratio_doubt(const Point& one, const Point& other);

}  // namespace feedrate::tools
