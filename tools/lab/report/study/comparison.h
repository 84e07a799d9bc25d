#pragma once
// Comparison: did it get faster? The points of two results files, side by side. Pure function.

#include <optional>
#include <string>
#include <vector>

#include "formats/base/statistics.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {

enum class Change : std::uint8_t { faster, slower, none, unknown };
/// "faster", "slower", "no difference", "not known"
std::string_view name_of(Change change);

/// A point that both files have.
struct ComparedPoint {
  std::string study;   // "lenet on mnist, cpu, fp32, batch 64"
  std::string kind;    // "delivered"
  std::string format;  // "lmdb × raw", and the path where others are stored alike
  std::optional<unsigned> threads;
  double before = 0;  // images/s, median
  double after = 0;
  /// 95 % confidence interval of after / before; absent with a single repeat.
  std::optional<formats::Interval> interval;
  bool is_changed = false;  // told of all points together

  /// after / before; the centre of the interval where there is one.
  double ratio() const;
  Change change() const;
};

struct Comparison {
  std::vector<ComparedPoint> points;  // by study, kind, format, threads
  std::size_t only_before = 0;        // points without a counterpart
  std::size_t only_after = 0;
  std::vector<std::string> doubts;

  std::size_t count(Change change) const;
  /// Did it get faster? A few sentences.
  std::string summary() const;
};

/// Rows are of one point where all that was asked for is equal and the images are the same. Where a
/// file has several datasets that are stored alike, their paths must be the same, too. Rates of 0
/// are left out. Of the points that are called faster or slower, one in twenty is expected to be neither
/// (Benjamini and Hochberg, 1995); where nothing changed, one is called so in one of twenty comparisons.
Comparison compare(const std::vector<Row>& before, const std::vector<Row>& after);

}  // namespace feedrate::tools
