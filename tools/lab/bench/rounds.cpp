#include "tools/lab/bench/rounds.h"

#include <algorithm>
#include <iterator>

#include "tools/lab/bench/forecast.h"

namespace feedrate::tools {
namespace {

// Cold points drop the page cache that warm ones need, so they share no rounds.
bool share_rounds(const BenchPoint& a, const BenchPoint& b) {
  const bool supply = a.row.kind == supply_kind;
  return a.row.digest == b.row.digest && a.row.cache == b.row.cache &&
         supply == (b.row.kind == supply_kind);
}

bool is_predicted(const Row& row) { return row.kind == delivered_kind && row.tool == own_tool; }

class Rounds {
 public:
  Rounds(const BenchOptions& options, std::vector<Row> rows, unsigned cores,
         const RoundsCalls& calls)
      : options_(options), rows_(std::move(rows)), cores_(cores), calls_(calls) {}

  void measure(std::span<const BenchPoint> points) {
    if (calls_.begins) calls_.begins(points);
    std::vector<Measurement> measurements(points.begin(), points.end());
    const std::size_t before = rows_.size();
    std::vector<Row> finished;
    const auto finish = [&](const Measurement& one) {
      finished.push_back(one.row());
      calls_.finished(one.point(), finished.back());
    };
    // Then only the end of a round shows whether it was the last.
    const bool open = options_.decide > 0 && points.front().row.cache == warm_cache;
    unsigned round = 0;
    try {
      do {
        ++round;
        rows_.resize(before);  // predict from this round's rows, not the last one's
        for (Measurement& one : measurements) {
          repeat(one);
          if (open || round < options_.repeat) {
            calls_.repeated(one.point(), one.last().images_per_second);
          } else {
            finish(one);
          }
        }
      } while (round < options_.repeat || (open && calls_.goes_on(so_far(before, measurements))));
    } catch (...) {  // what was measured is kept
      const auto rest = std::span(measurements).subspan(finished.size());
      for (const Measurement& one : rest) {
        if (one.has_repeats()) finish(one);
      }
      throw;
    }
    if (open) std::ranges::for_each(measurements, finish);
    rows_.resize(before);
    std::ranges::move(finished, std::back_inserter(rows_));
  }

 private:
  std::vector<Row> so_far(std::size_t before, const std::vector<Measurement>& measurements) const {
    std::vector<Row> rows(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(before));
    for (const Measurement& one : measurements) rows.push_back(one.row());
    return rows;
  }

  void repeat(Measurement& one) {
    const BenchPoint& point = one.point();
    one.repeat(
        options_, [&](const auto& arguments) { return calls_.run(point, arguments); },
        is_predicted(point.row) ? forecast(point.row, rows_, cores_) : std::nullopt);
    rows_.push_back(one.last());
  }

  const BenchOptions& options_;
  std::vector<Row> rows_;  // to predict from: finished points, and this round's repeats
  unsigned cores_;
  const RoundsCalls& calls_;
};

}  // namespace

void measure_in_rounds(std::span<const BenchPoint> points, const BenchOptions& options,
                       std::vector<Row> rows, unsigned cores, const RoundsCalls& calls) {
  Rounds rounds(options, std::move(rows), cores, calls);
  while (!points.empty()) {
    const auto end = std::ranges::find_if_not(
        points, [&](const BenchPoint& point) { return share_rounds(points.front(), point); });
    const auto count = static_cast<std::size_t>(end - points.begin());
    rounds.measure(points.first(count));
    points = points.subspan(count);
  }
}

}  // namespace feedrate::tools
