#pragma once
// Choice: one format of a study at the number of threads that suits it best, and how it compares with others.
// Pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/lab/report/study/scaling.h"
#include "tools/lab/report/study/study.h"
#include "tools/lab/report/study/verdict_doubts.h"

namespace feedrate::tools {

struct Choice {
  const Curve* curve = nullptr;
  const Point* point = nullptr;
  double supply = 0;        // images/s with as many threads; 0 when not measured
  loader::Verdict found{};  // at the point; of supply alone, nothing
  std::optional<Need>
      need{};  // absent where no number of cores helps: it waits for a disk or a server

  /// Whether loading costs so little that no other choice can win much.
  bool is_fed() const { return loader::is_fed(found.limit); }
  double loss() const { return found.loss.value_or(0); }
  /// Whether other programs had the cores while supply was measured.
  bool is_contended() const;
};

/// The first of a curve's points (at least one, by rising thread count) that is as fast as the
/// fastest, as loader::as_fast_as() decides, and that the repeats do not show to be slower.
const Point& knee(const std::vector<Point>& points);

/// The knee of delivered; of supply when the study trained nothing. Null when there is no point.
const Point* shown_knee(const Study& study, const Curve& curve);

/// Of an emulated device its rate, though this machine may be too small or too busy to emulate it.
std::optional<loader::Rate> demand_of(const Study& study, const Curve& curve);

/// Each format with the fewest threads that feed the trainer, unless more are shown to be faster; where no
/// number does, at the knee of delivered.
std::vector<Choice> choices(const Study& study);
/// The same of the loader alone, at the knee of supply.
std::vector<Choice> supply_choices(const Study& study);
std::vector<const Point*> points_of(const std::vector<Choice>& choices);

/// Needs of cores that differ by no more are too close to rank.
inline constexpr double max_cores_doubt = 0.15;

/// Whether the first of two formats feeds the trainer better: by rates that the repeats tell apart, else by the
/// cores that they need.
enum class Order : std::uint8_t { better, worse, equal, open };
Order order(const Choice& one, const Choice& other, const Compared& among);

/// Of formats that do not feed the trainer (at least one), the one that no other beats; of several, the fewest
/// cores, then the fewest threads, then the most supply.
Choice best_of(const std::vector<Choice>& choices);

}  // namespace feedrate::tools
