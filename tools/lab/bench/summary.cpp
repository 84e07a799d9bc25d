#include "tools/lab/bench/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/measure/row_fields.h"

namespace feedrate::tools {
namespace {

/// Points of one kind on the same images.
struct Group {
  std::string_view kind;
  std::string digest;
  std::vector<const Row*> rows;
};

std::vector<Group> groups(std::span<const BenchPoint> points) {
  std::vector<Group> found;
  for (const BenchPoint& point : points) {
    const Row& row = point.row;
    auto group = std::ranges::find_if(
        found, [&](const Group& one) { return one.kind == row.kind && one.digest == row.digest; });
    if (group == found.end()) group = found.insert(found.end(), Group{row.kind, row.digest, {}});
    group->rows.push_back(&row);
  }
  const auto place = [](const Group& group) {
    return std::pair(group.digest, std::ranges::find(row_kinds, group.kind));
  };
  std::ranges::sort(found, {}, place);
  return found;
}

/// The values that `of` gives for the rows, each once, in order.
template <class Of>
auto values(const Group& group, const Of& of) {
  std::set<decltype(of(*group.rows.front()))> found;
  for (const Row* row : group.rows) found.insert(of(*row));
  return found;
}

std::string ranges_of(const Group& group) {
  const auto tools = values(group, [](const Row& row) { return row.tool; });
  const auto networks = values(group, [](const Row& row) { return row.network.value_or(""); });
  const auto devices = values(group, [](const Row& row) { return row.device.value_or(""); });
  auto precisions = values(group, [](const Row& row) { return row.precision.value_or(""); });
  precisions.erase("");
  const auto recipes = values(group, [](const Row& row) { return row.recipe; });
  const auto batches = values(group, [](const Row& row) { return row.batch; });
  const auto decodes = values(group, [](const Row& row) { return row.decode; });
  const auto caches = values(group, [](const Row& row) { return row.cache; });
  const auto threads = values(group, [](const Row& row) { return row.threads.value_or(0); });
  std::string text;
  if (tools != std::set<std::string>{std::string(own_tool)}) {
    text += fmt::format("by {}; ", fmt::join(tools, ", "));
  }
  if (group.kind != supply_kind) {
    text += fmt::format("{} on {}{}{}; ", fmt::join(networks, ", "), fmt::join(devices, ", "),
                        precisions.empty() ? "" : ", ", fmt::join(precisions, ", "));
  }
  text += fmt::format("batch {}", fmt::join(batches, ", "));
  if (recipes != std::set<std::string>{"none"}) {
    text += fmt::format("; recipe {}", fmt::join(recipes, ", "));
  }
  if (is_trainer_alone(group.kind)) return text;
  if (decodes != std::set<std::string>{std::string(full_decode)}) {
    text += fmt::format("; decode {}", fmt::join(decodes, ", "));
  }
  if (caches != std::set<std::string>{std::string(warm_cache)}) {
    text += fmt::format("; cache {}", fmt::join(caches, ", "));
  }
  return text + fmt::format("; threads {}", fmt::join(threads, ", "));
}

}  // namespace

double least_seconds(std::size_t points, const BenchOptions& options) {
  return static_cast<double>(points) * options.repeat * options.seconds;
}

std::string plan_text(std::span<const BenchPoint> points, const BenchOptions& options) {
  std::string text;
  std::string digest;
  for (const Group& group : groups(points)) {
    if (group.digest != digest) {
      digest = group.digest;
      std::set<std::string> datasets;
      for (const BenchPoint& point : points) {
        if (point.row.digest == digest) datasets.insert(point.row.dataset);
      }
      text += fmt::format("images {:.12}: {}\n", digest, fmt::join(datasets, ", "));
    }
    text += fmt::format("  {:<9} {:>12}  {}\n", group.kind, counted(group.rows.size(), "point"),
                        ranges_of(group));
  }
  return text + fmt::format("{}, {} of {} each: {}, plus start-up\n",
                            counted(points.size(), "point"), counted(options.repeat, "repeat"),
                            duration_text(options.seconds),
                            duration_text(least_seconds(points.size(), options)));
}

namespace {

struct ShownPlan {
  BenchOptions options;
  std::vector<BenchPoint> points;
};

}  // namespace

template <class Field>
void for_each_field(const BenchPoint& point, const Field& field) {
  for_each_point_field(point.row, field);
  field("digest", point.row.digest, {"of the dataset's images", Unit{sha256_unit}});
}

template <>
inline constexpr Heading heading_of<ShownPlan>{
    "bench",
    "What `feedrate bench --dry-run` prints. Without `--dry-run`, each measured row is a line, "
    "with and without `--out`."};

template <class Field>
void for_each_field(const ShownPlan& plan, const Field& field) {
  const BenchOptions& options = plan.options;
  field("repeat", options.repeat, {"processes for each point"});
  field("seconds", options.seconds, {"of each", Unit{"s"}});
  field("seed", options.seed, {"of the order and of every draw"});
  field("shuffle_blocks", options.shuffle_blocks,
        {"neighbours that a shuffle keeps together; 0: none"});
  field("least_seconds", least_seconds(plan.points.size(), options),
        {"for measuring; starting the processes takes more", Unit{"s"}});
  field("points", plan.points, {"in the order of measuring; their keys are as in rows"});
}

Description describe_bench() { return description_of(ShownPlan{}); }

std::string plan_json(std::span<const BenchPoint> points, const BenchOptions& options) {
  return json_text_of(ShownPlan{options, {points.begin(), points.end()}});
}

}  // namespace feedrate::tools
