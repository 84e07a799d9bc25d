#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/base/statistics.h"
#include "tools/cli/text.h"
#include "tools/measure/or_null.h"
#include "tools/report/study/attribution.h"
#include "tools/report/study/doubts.h"
#include "tools/report/write/output.h"
#include "tools/report/write/study_tables.h"

namespace feedrate::tools {
using namespace formats;

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

ordered_json points_json(const std::vector<Point>& points) {
  ordered_json list = ordered_json::array();
  for (const Point& point : points) list.push_back(point_json(point));
  return list;
}

/// Threads at the knee: the point of a curve that tables show.
ordered_json knee_json(const std::vector<Point>& points) {
  return points.empty() ? ordered_json(nullptr) : ordered_json(knee(points).threads);
}

ordered_json verdict_json(const Study& study, const Verdict& verdict) {
  return {{"sentence", sentence(study, verdict)},
          {"answer", verdict.answer},
          {"reason", verdict.reason},
          {"limit", name_of(verdict.limit)},
          {"format", or_null<ordered_json>(verdict.format)},
          {"threads", verdict.threads},
          {"images_per_second", rounded(verdict.rate, 3)},
          {"demand", or_null<ordered_json>(verdict.demand)},
          {"stall_percent", or_null<ordered_json>(verdict.stall)},
          {"as_good", verdict.as_good}};
}

/// The errors of a study's predictions in percent; null where nothing was predicted.
ordered_json errors_json(const std::vector<double>& errors) {
  if (errors.empty()) return nullptr;
  return {{"predictions", errors.size()},
          {"median_percent", rounded(median(errors), 3)},
          {"largest_percent", rounded(*std::ranges::max_element(errors), 3)}};
}

ordered_json attribution_json(const Study& study) {
  ordered_json list = ordered_json::array();
  for (const AttributedPoint& point : attribute(study)) {
    ordered_json object{{"format", point.format},
                        {"threads", point.threads},
                        {"at_knee", point.at_knee},
                        {"total_us", rounded(point.parts.total, 3)}};
    for (const AttributionPart& part : attribution_parts) {
      std::string key(part.name);
      std::ranges::replace(key, ' ', '_');
      object[key + "_us"] = rounded(point.parts.*part.member, 3);
    }
    list.push_back(std::move(object));
  }
  return list;
}

ordered_json curve_json(const Curve& curve) {
  return {{"format", curve.format},
          {"tool", curve.tool},
          {"cache", curve.cache},
          {"supply", points_json(curve.supply)},
          {"delivered", points_json(curve.delivered)},
          {"supply_knee", knee_json(curve.supply)},
          {"delivered_knee", knee_json(curve.delivered)},
          {"demand", curve.demand ? point_json(*curve.demand) : ordered_json(nullptr)},
          {"compute", curve.compute ? point_json(*curve.compute) : ordered_json(nullptr)},
          {"prediction_error", errors_json(prediction_errors(curve))}};
}

ordered_json trainings_json(const std::vector<TrainingCurve>& trainings) {
  ordered_json list = ordered_json::array();
  for (const TrainingCurve& one : trainings) {
    const auto last = one.validations.empty() ? TrainingCurve::Mark{} : one.validations.back();
    list.push_back({{"name", one.name},
                    {"file", one.file},
                    {"steps", or_null<ordered_json>(one.steps)},
                    {"images_per_second", or_null<ordered_json>(one.images_per_second)},
                    {"loss", or_null<ordered_json>(one.loss)},
                    {"accuracy", or_null<ordered_json>(one.accuracy)},
                    {"val_loss", or_null<ordered_json>(last.loss)},
                    {"val_accuracy", or_null<ordered_json>(last.accuracy)}});
  }
  return list;
}

}  // namespace

Report make_report(std::vector<Run> runs, std::vector<TrainingCurve> trainings) {
  Report report;
  report.studies = make_studies(runs);
  for (const Study& study : report.studies) report.verdicts.push_back(judge(study));
  report.doubts = doubts(runs, report.studies);
  report.runs = std::move(runs);
  report.trainings = std::move(trainings);
  return report;
}

std::string report_json(const Report& report) {
  ordered_json studies = ordered_json::array();
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const Study& study = report.studies[i];
    ordered_json curves = ordered_json::array();
    for (const Curve& curve : study.curves) curves.push_back(curve_json(curve));
    studies.push_back({{"title", study.title()},
                       {"dataset", or_null<ordered_json>(study.dataset)},
                       {"digest", study.digest},
                       {"network", or_null<ordered_json>(study.network)},
                       {"device", or_null<ordered_json>(study.device)},
                       {"precision", or_null<ordered_json>(study.precision)},
                       {"recipe", study.recipe},
                       {"batch", study.batch},
                       {"verdict", verdict_json(study, report.verdicts[i])},
                       {"demand", study.demand ? point_json(*study.demand) : ordered_json(nullptr)},
                       {"curves", std::move(curves)},
                       {"prediction_error", errors_json(prediction_errors(study))},
                       {"attribution", attribution_json(study)}});
  }
  ordered_json rows = ordered_json::array();
  for (const Run& run : report.runs) rows.push_back(ordered_json::parse(to_json_line(run)));
  const ordered_json object{{"studies", std::move(studies)},
                            {"doubts", report.doubts},
                            {"trainings", trainings_json(report.trainings)},
                            {"rows", std::move(rows)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace feedrate::tools
