#include <fmt/format.h>

#include <algorithm>

#include "tools/report/output.h"
#include "tools/text.h"

namespace feedrate {
namespace {

constexpr const char* columns = "  {:<22} {:>7} {:>13} {:>13} {:>10} {:>8} {:>8}\n";

const Point* at(const std::vector<Point>& points, unsigned threads) {
  for (const Point& point : points) {
    if (point.threads == threads) return &point;
  }
  return nullptr;
}

std::string percent(std::optional<double> value) {
  return value ? fmt::format("{:.1f} %", *value) : "–";
}

void add_curve(std::string& text, const Study& study, const Verdict& verdict, const Curve& curve) {
  // Some thread counts may have been measured for one kind of row only.
  std::vector<unsigned> counts;
  for (const auto* points : {&curve.supply, &curve.delivered}) {
    for (const Point& point : *points) counts.push_back(point.threads);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const unsigned threads : counts) {
    const Point* supply = at(curve.supply, threads);
    const Point* delivered = at(curve.delivered, threads);
    const Point& shown = delivered != nullptr ? *delivered : *supply;
    std::optional<double> share;
    if (delivered != nullptr && study.demand) share = 100 * delivered->rate / study.demand->rate;
    const bool chosen = curve.format == verdict.format && threads == verdict.threads;
    text += fmt::format(columns, (threads == counts.front() ? curve.format : ""),
                        fmt::format("{}{}", chosen ? "→ " : "", threads),
                        supply != nullptr ? quantity(supply->rate) : "–",
                        delivered != nullptr ? quantity(delivered->rate) : "–", percent(share),
                        percent(delivered != nullptr ? delivered->stall : std::nullopt),
                        percent(100 * shown.spread()));
  }
}

}  // namespace

std::string report_table(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    const Study& study = report.studies[i];
    text += study.title();
    if (study.demand) {
      text += fmt::format(": can take {} images/s (spread {:.1f} %)", quantity(study.demand->rate),
                          100 * study.demand->spread());
    }
    text += "\n";
    text += fmt::format(columns, "images/s", "threads", "supply", "delivered", "of demand", "stall",
                        "spread");
    for (const Curve& curve : study.curves) add_curve(text, study, report.verdicts[i], curve);
    text += "\n";
  }
  for (const std::string& doubt : report.doubts) text += fmt::format("doubt: {}\n", doubt);
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    text += sentence(report.studies[i], report.verdicts[i]) + "\n";
  }
  return text;
}

}  // namespace feedrate
