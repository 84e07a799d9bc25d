#include "tools/lab/report/study/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tools/console/text.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using Rows = std::vector<Row>;

auto key_of(const Row& row) {
  const auto kind = std::ranges::find(row_kinds, row.kind) - row_kinds.begin();
  // Without a loader, any format of the same images will do.
  const std::string format = is_trainer_alone(row.kind) ? "" : row_label(row);
  return std::tuple(row.digest, row.recipe, row.batch, row.network, row.device, row.precision, kind,
                    row.tool, format, row.threads, row.compute_threads);
}

using PointKey = decltype(key_of(Row{}));

/// The points that a file has of several datasets, which are stored alike.
std::set<PointKey> of_several_datasets(const Rows& rows) {
  std::map<PointKey, std::string> paths;
  std::set<PointKey> found;
  for (const Row& row : rows) {
    if (is_trainer_alone(row.kind)) continue;
    const PointKey key = key_of(row);
    if (paths.try_emplace(key, plain_path(row)).first->second != plain_path(row)) found.insert(key);
  }
  return found;
}

struct Sides {
  std::vector<const Row*> before, after;
};

/// The repeats of a point in both files.
using Repeats = std::array<std::vector<double>, 2>;

bool differ(const Repeats& repeats, double outside) {
  const std::optional<Interval> ratio = ratio_interval(repeats[0], repeats[1], outside);
  return ratio && (ratio->low > 1 || ratio->high < 1);
}

/// Which points changed. The more of them do, the less each has to differ: at first as much as one that differs
/// alone by chance in one of twenty comparisons. Points without a second repeat tell nothing and do not count.
std::vector<bool> changes_of(const std::vector<Repeats>& points) {
  const auto all = std::ranges::count_if(points, [](const Repeats& repeats) {
    return ratio_interval(repeats[0], repeats[1]).has_value();
  });
  for (auto least = all; least > 0; --least) {
    const double outside = one_in_twenty * static_cast<double>(least) / static_cast<double>(all);
    std::vector<bool> changed;
    for (const Repeats& repeats : points) changed.push_back(differ(repeats, outside));
    if (std::ranges::count(changed, true) >= least) return changed;
  }
  return std::vector<bool>(points.size());
}

std::set<std::string> machines(const Rows& rows) {
  std::set<std::string> found;
  for (const Row& row : rows) found.insert(machine_of(row));
  return found;
}

std::vector<std::string> doubts_of(const Rows& before, const Rows& after) {
  std::vector<std::string> sentences;
  if (machines(before) != machines(after)) {
    sentences.emplace_back(
        "The two files come from different machines, so the ratios compare machines, too.");
  }
  for (const Rows* rows : {&before, &after}) {
    for (const std::string& doubt : doubts(*rows, make_studies(*rows))) {
      sentences.push_back((rows == &before ? "Before: " : "After: ") + doubt);
    }
  }
  return sentences;
}

}  // namespace

std::string_view name_of(Change change) {
  constexpr std::array<std::string_view, 4> names{"faster", "slower", "no difference", "not known"};
  return names.at(static_cast<std::size_t>(change));
}

double ComparedPoint::ratio() const {
  return interval ? std::sqrt(interval->low * interval->high) : after / before;
}

Change ComparedPoint::change() const {
  if (!interval) return Change::unknown;
  if (!is_changed) return Change::none;
  return ratio() > 1 ? Change::faster : Change::slower;
}

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(points, change, &ComparedPoint::change));
}

std::string Comparison::summary() const {
  if (points.empty()) return "The two files have no point in common.";
  const std::size_t faster = count(Change::faster), slower = count(Change::slower);
  const std::size_t unknown = count(Change::unknown);
  std::string_view answer = "No difference was found";
  if (unknown == points.size()) answer = "Not known";
  if (faster > 0) answer = slower > 0 ? "In part" : "Yes";
  if (faster == 0 && slower > 0) answer = "No, slower";
  std::string text =
      fmt::format("Did it get faster? {}. Of {} in both files, {} {} faster, {} slower, {} {}",
                  answer, counted(points.size(), "point"), faster, faster == 1 ? "is" : "are",
                  slower, count(Change::none), "without a difference beyond the noise");
  if (unknown > 0) text += fmt::format(", {} not known (at least 2 repeats are needed)", unknown);
  std::vector<double> ratios;
  for (const ComparedPoint& point : points) ratios.push_back(point.ratio());
  text += fmt::format(". The median point is {:.2f} times as fast.", median(ratios));
  if (only_before + only_after > 0) {
    text +=
        fmt::format(" {} only before, {} only after.", counted(only_before, "point"), only_after);
  }
  return text;
}

Comparison compare(const Rows& before, const Rows& after) {
  Rows all = before;
  all.insert(all.end(), after.begin(), after.end());
  const std::map<std::string, std::string> datasets = dataset_names(all);
  std::set<PointKey> several = of_several_datasets(before);
  several.merge(of_several_datasets(after));
  std::map<std::pair<PointKey, std::string>, Sides>
      sides;  // by the path, too, where it tells them apart
  const auto side = [&](const Row& row) -> Sides& {
    const PointKey key = key_of(row);
    return sides[{key, several.contains(key) ? plain_path(row) : ""}];
  };
  for (const Row& row : before) side(row).before.push_back(&row);
  for (const Row& row : after) side(row).after.push_back(&row);
  Comparison comparison;
  std::vector<Repeats> repeats;
  for (const auto& [point, rows] : sides) {
    if (rows.before.empty() || rows.after.empty()) {
      ++(rows.after.empty() ? comparison.only_before : comparison.only_after);
      continue;
    }
    const Row& row = *rows.after.front();
    const auto& [format, path] = std::pair(std::get<8>(point.first), point.second);
    const Point from = pool(rows.before), to = pool(rows.after);
    if (from.rate <= 0 || to.rate <= 0) continue;
    repeats.push_back({from.repeats, to.repeats});
    comparison.points.push_back({.study = empty_study(row, datasets.at(row.digest)).title(),
                                 .kind = row.kind,
                                 .format = path.empty() ? format : join(format, " (", path, ")"),
                                 .threads = row.threads,
                                 .before = from.rate,
                                 .after = to.rate,
                                 .interval = ratio_interval(from.repeats, to.repeats)});
  }
  const std::vector<bool> changed = changes_of(repeats);
  for (std::size_t i = 0; i < changed.size(); ++i) comparison.points[i].is_changed = changed[i];
  comparison.doubts = doubts_of(before, after);
  return comparison;
}

}  // namespace feedrate::tools
