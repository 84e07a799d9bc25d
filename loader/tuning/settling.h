#pragma once
// When a run has warmed up: its rate is that of what follows. Found by the slope of the rate over
// time, not by a number of steps that suits some machines.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedrate::loader {

/// How far a run was, on a clock that begins with its first mark.
struct Mark {
  double seconds = 0;
  std::uint64_t images = 0;
  double waited = 0;  // seconds of the consumer, so far
};

/// Marks of a run that is to last so many seconds: some tens of them, evenly spread, and no
/// allocation after construction. One thread.
class Marks {
 public:
  /// 0: of unknown length, and no marks are kept.
  explicit Marks(double run_seconds);
  /// Keeps the mark when it is the first, or far enough behind the last.
  void add(const Mark& mark);
  std::span<const Mark> all() const { return marks_; }

 private:
  double apart_ = 0;  // seconds
  std::vector<Mark> marks_;
};

/// The first mark from which on images/s no longer change: the slope of the rates between marks is
/// not significantly different from 0 (Student's t, 95 %), the first of them does not stand apart
/// from the others, or both differ by less than 1 %. Half of the run is kept however it changes.
/// Nothing where there are too few marks to tell. A pure function.
std::optional<std::size_t> settled_from(std::span<const Mark> marks);

}  // namespace feedrate::loader
