#include "tools/lab/report/study/choice.h"

#include <algorithm>
#include <tuple>

namespace feedrate::tools {
using loader::Limit;

namespace {

/// Whether the repeats show that the first is slower.
bool is_slower(const Point& point, const Point& than, const Compared& among) {
  return point.rate < than.rate &&
         difference(than, point, among).outcome == Difference::Outcome::apart;
}

bool is_slower_than_any(const Point& point, const std::vector<const Point*>& others) {
  const Compared among = compared(others);
  return std::ranges::any_of(others,
                             [&](const Point* other) { return is_slower(point, *other, among); });
}

std::optional<loader::Rate> rate_of(const Point* point) {
  return point == nullptr ? std::nullopt : std::optional(point->as_rate());
}

std::optional<loader::Rate> rate_of(const std::optional<Point>& point) {
  return rate_of(point ? &*point : nullptr);
}

double seconds(std::optional<double> microseconds) { return microseconds.value_or(0) * 1e-6; }

}  // namespace

const Point& knee(const std::vector<Point>& points) {
  const Point& best = *std::ranges::max_element(points, {}, &Point::rate);
  const Compared among = compared(pointers(points));
  return *std::ranges::find_if(points, [&](const Point& point) {
    return as_fast_as(point.as_rate(), best.as_rate()) && !is_slower(point, best, among);
  });
}

const Point* shown_knee(const Study& study, const Curve& curve) {
  if (!curve.delivered.empty()) return &knee(curve.delivered);
  const bool is_trained =
      std::ranges::any_of(study.curves, [](const Curve& one) { return !one.delivered.empty(); });
  return is_trained || curve.supply.empty() ? nullptr : &knee(curve.supply);
}

bool Choice::is_contended() const {
  return std::ranges::any_of(curve->supply,
                             [](const Point& point) { return point.ran.has_value(); });
}

std::optional<loader::Rate> demand_of(const Study& study, const Curve& curve) {
  if (study.emulated_rate) return loader::Rate{*study.emulated_rate};
  return rate_of(curve.demand);
}

namespace {

loader::Figures figures_of(const Study& study, const Curve& curve, const Point& point) {
  const Point* const supply = at_threads(curve.supply, point.threads);
  loader::Figures figures{.worker = worker_of(study, curve),
                          .supply = rate_of(supply),
                          .demand = demand_of(study, curve),
                          .compute = rate_of(curve.compute),
                          .delivered = point.as_rate(),
                          .threads = point.threads,
                          .most_threads = curve.delivered.back().threads,
                          .computing = point.computing,
                          .cores = point.cores,
                          .remote = curve.remote,
                          .read = seconds(point.read_us),
                          .decode = seconds(point.decode_us),
                          .augment = seconds(point.augment_us),
                          .loader_cpu = supply == nullptr ? 0 : seconds(supply->cpu_us),
                          .trainer_cpu = curve.demand ? seconds(curve.demand->cpu_us) : 0};
  if (point.stall) figures.stall = *point.stall / 100;
  if (curve.demand && !study.emulated_rate) {
    figures.demand->spread = figures.delivered->spread = ratio_doubt(*curve.demand, point);
  }
  return figures;
}

/// The fewest threads that feed the trainer, unless more are shown to be faster; where none do, the knee.
Choice choice_of(const Study& study, const Curve& curve) {
  const auto at = [&](const Point& point) {
    const Point* const supply = at_threads(curve.supply, point.threads);
    return Choice{&curve, &point, supply == nullptr ? 0 : supply->rate,
                  judge(figures_of(study, curve, point))};
  };
  std::vector<Choice> fed;
  std::vector<const Point*> points;
  for (const Point& point : curve.delivered) {
    const Choice choice = at(point);
    if (!choice.is_fed()) continue;
    fed.push_back(choice);
    points.push_back(&point);
  }
  for (const Choice& choice : fed) {
    if (!is_slower_than_any(*choice.point, points)) return choice;
  }
  return at(knee(curve.delivered));
}

/// The needs of cores where the CPU time of an image decides, not the wait for a disk or a server.
void add_needs(const Study& study, std::vector<Choice>& choices) {
  for (const Need& need : needs(study)) {
    for (Choice& choice : choices) {
      const bool waits = loader::waits_for_data(choice.found.limit);
      if (choice.curve == need.curve && !waits) choice.need = need;
    }
  }
}

}  // namespace

std::vector<Choice> choices(const Study& study) {
  std::vector<Choice> found;
  for (const Curve& curve : study.curves) {
    if (!curve.delivered.empty() && is_candidate(study, curve)) {
      found.push_back(choice_of(study, curve));
    }
  }
  add_needs(study, found);
  return found;
}

std::vector<Choice> supply_choices(const Study& study) {
  std::vector<Choice> found;
  for (const Curve& curve : study.curves) {
    if (curve.supply.empty() || !is_candidate(study, curve)) continue;
    const Point& point = knee(curve.supply);
    found.push_back({&curve, &point, point.rate});
  }
  return found;
}

std::vector<const Point*> points_of(const std::vector<Choice>& all) {
  std::vector<const Point*> points;
  for (const Choice& one : all) points.push_back(one.point);
  return points;
}

Order order(const Choice& one, const Choice& other, const Compared& among) {
  using Outcome = Difference::Outcome;
  if (!one.is_contended() && !other.is_contended()) {
    const Outcome rates = difference(*one.point, *other.point, among).outcome;
    if (rates == Outcome::apart) {
      return one.point->rate > other.point->rate ? Order::better : Order::worse;
    }
    if (rates == Outcome::none) return Order::equal;
  }
  if (!one.need || !other.need) return Order::open;
  const double ratio = one.need->cores.likely / other.need->cores.likely;
  if (ratio < 1 / (1 + max_cores_doubt)) return Order::better;
  return ratio > 1 + max_cores_doubt ? Order::worse : Order::open;
}

Choice best_of(const std::vector<Choice>& all) {
  const Compared among = compared(points_of(all));
  std::vector<Choice> left;
  for (const Choice& one : all) {
    const bool beaten = std::ranges::any_of(
        all, [&](const Choice& other) { return order(other, one, among) == Order::better; });
    if (!beaten) left.push_back(one);
  }
  if (left.empty()) left = all;  // each beats another, in a circle
  return *std::ranges::min_element(left, {}, [](const Choice& one) {
    return std::tuple(one.need ? one.need->cores.likely : 0, one.point->threads, -one.supply);
  });
}

}  // namespace feedrate::tools
