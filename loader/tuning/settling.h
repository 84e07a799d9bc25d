#pragma once
// When a run has warmed up, so that its rate is measured on the rest. Found from the slope of the
// rate over time: a fixed number of warm-up steps would suit some machines only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedrate::loader {

/// How far a run has come, on a clock that starts at its first mark.
struct Mark {
  double seconds = 0;
  std::uint64_t images = 0;
  double waited = 0;  // seconds that the consumer has waited so far
};

/// Some tens of marks, evenly spread over a run of known length. Allocates at construction only.
/// One thread.
class Marks {
 public:
  /// 0: the length is unknown, and no mark is kept.
  explicit Marks(double run_seconds);
  /// Whether a mark then would be kept: it is the first, or far enough from the last one.
  bool are_due(double seconds) const;
  /// Keeps the mark if it is due.
  void add(const Mark& mark);
  std::span<const Mark> all() const { return marks_; }

 private:
  double spacing_ = 0;  // seconds
  std::vector<Mark> marks_;
};

/// The index of the first mark after which images/s no longer change: the rates between the marks
/// have no significant slope (Student's t, 95 %) and the first of them is no outlier, or these
/// differences are below 1 %. At least half of the run is always kept. Nothing when there are too
/// few marks to tell. A pure function.
std::optional<std::size_t> settled_from(std::span<const Mark> marks);

}  // namespace feedrate::loader
