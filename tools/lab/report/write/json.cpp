#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/lab/report/study/attribution.h"
#include "tools/lab/report/write/output.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;

ordered_json point_json(const Point& point) {
  return {{"threads", point.threads},
          {"images_per_second", rounded(point.rate, 3)},
          {"low", rounded(point.low, 3)},
          {"high", rounded(point.high, 3)},
          {"predicted", or_null<ordered_json>(point.predicted)},
          {"stall_percent", or_null<ordered_json>(point.stall)},
          {"workers_seen", or_null<ordered_json>(point.workers_seen)}};
}

ordered_json point_json(const std::optional<Point>& point) {
  return point ? point_json(*point) : ordered_json(nullptr);
}

template <class T, class Of>
ordered_json list_json(const std::vector<T>& values, const Of& of) {
  ordered_json list = ordered_json::array();
  for (const T& value : values) list.push_back(of(value));
  return list;
}

ordered_json points_json(const std::vector<Point>& points) {
  return list_json(points, [](const Point& point) { return point_json(point); });
}

/// The threads of the knee.
ordered_json knee_json(const std::vector<Point>& points) {
  return points.empty() ? ordered_json(nullptr) : ordered_json(knee(points).threads);
}

ordered_json verdict_json(const Study& study, const StudyVerdict& verdict) {
  return {{"sentence", sentence(study, verdict)},
          {"answer", verdict.answer},
          {"reason", verdict.reason()},
          {"limit", name(verdict.limit)},
          {"format", or_null<ordered_json>(verdict.format)},
          {"threads", verdict.threads},
          {"images_per_second", rounded(verdict.rate, 3)},
          {"demand", or_null<ordered_json>(verdict.demand)},
          {"stall_percent", or_null<ordered_json>(verdict.stall)},
          {"as_good", verdict.as_good}};
}

/// Null when nothing was predicted.
ordered_json error_json(const std::optional<PredictionError>& error) {
  if (!error) return nullptr;
  return {{"predictions", error->predictions},
          {"median_percent", rounded(error->median, 3)},
          {"largest_percent", rounded(error->largest, 3)}};
}

ordered_json attribution_json(const AttributedPoint& point) {
  ordered_json object{{"format", point.format},
                      {"threads", point.threads},
                      {"at_knee", point.at_knee},
                      {"total_us", rounded(point.parts.total, 3)}};
  for (const AttributionPart& part : attribution_parts) {
    std::string key(part.name);
    std::ranges::replace(key, ' ', '_');
    object[key + "_us"] = rounded(point.parts.*part.member, 3);
  }
  return object;
}

ordered_json curve_json(const Curve& curve) {
  return {{"format", curve.format},
          {"tool", curve.tool},
          {"cache", curve.cache},
          {"supply", points_json(curve.supply)},
          {"delivered", points_json(curve.delivered)},
          {"supply_knee", knee_json(curve.supply)},
          {"delivered_knee", knee_json(curve.delivered)},
          {"demand", point_json(curve.demand)},
          {"compute", point_json(curve.compute)},
          {"prediction_error", error_json(prediction_error({&curve, 1}))}};
}

}  // namespace

std::string report_json(const Report& report) {
  ordered_json studies = ordered_json::array();
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const Study& study = report.studies[i];
    studies.push_back({{"title", study.title()},
                       {"dataset", or_null<ordered_json>(study.dataset)},
                       {"digest", study.digest},
                       {"network", or_null<ordered_json>(study.network)},
                       {"device", or_null<ordered_json>(study.device)},
                       {"precision", or_null<ordered_json>(study.precision)},
                       {"recipe", study.recipe},
                       {"batch", study.batch},
                       {"verdict", verdict_json(study, report.verdicts[i])},
                       {"demand", point_json(study.demand)},
                       {"curves", list_json(study.curves, curve_json)},
                       {"prediction_error", error_json(prediction_error(study.curves))},
                       {"attribution", list_json(attribute(study), attribution_json)}});
  }
  const auto as_written = [](const Row& row) { return ordered_json::parse(to_json_line(row)); };
  const ordered_json object{{"studies", std::move(studies)},
                            {"doubts", report.doubts},
                            {"rows", list_json(report.rows, as_written)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace feedrate::tools
