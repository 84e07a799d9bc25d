#include <nlohmann/json.hpp>

#include "tools/report/output.h"
#include "tools/text.h"

namespace feedrate {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json point_json(const Point& point) {
  return {{"threads", point.threads},
          {"images_per_second", rounded(point.rate, 1)},
          {"low", rounded(point.low, 1)},
          {"high", rounded(point.high, 1)},
          {"stall_percent", or_null(point.stall)},
          {"workers_seen", or_null(point.workers_seen)}};
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
          {"format", or_null(verdict.format)},
          {"threads", verdict.threads},
          {"images_per_second", rounded(verdict.rate, 1)},
          {"demand", or_null(verdict.demand)},
          {"stall_percent", or_null(verdict.stall)},
          {"as_good", verdict.as_good}};
}

}  // namespace

Report make_report(std::vector<Run> runs) {
  Report report;
  report.studies = make_studies(runs);
  for (const Study& study : report.studies) report.verdicts.push_back(judge(study));
  report.doubts = doubts(runs, report.studies);
  report.runs = std::move(runs);
  return report;
}

std::string report_json(const Report& report) {
  ordered_json studies = ordered_json::array();
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const Study& study = report.studies[i];
    ordered_json curves = ordered_json::array();
    for (const Curve& curve : study.curves) {
      curves.push_back({{"format", curve.format},
                        {"supply", points_json(curve.supply)},
                        {"delivered", points_json(curve.delivered)},
                        {"supply_knee", knee_json(curve.supply)},
                        {"delivered_knee", knee_json(curve.delivered)}});
    }
    studies.push_back({{"title", study.title()},
                       {"network", or_null(study.network)},
                       {"device", or_null(study.device)},
                       {"precision", or_null(study.precision)},
                       {"recipe", study.recipe},
                       {"batch", study.batch},
                       {"verdict", verdict_json(study, report.verdicts[i])},
                       {"demand", study.demand ? point_json(*study.demand) : ordered_json(nullptr)},
                       {"curves", std::move(curves)}});
  }
  ordered_json rows = ordered_json::array();
  for (const Run& run : report.runs) rows.push_back(ordered_json::parse(to_json_line(run)));
  const ordered_json object{
      {"studies", std::move(studies)}, {"doubts", report.doubts}, {"rows", std::move(rows)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace feedrate
