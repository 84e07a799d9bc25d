#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/report/draw/charts.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

// File systems take 255 bytes, of which the chart's own name wants some.
constexpr std::size_t longest_name = 120;

}  // namespace

std::string file_name_of(const Study& study) {
  std::string name;
  for (const char c : study.title()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name.substr(0, longest_name);
}

std::vector<ChartFile> report_svg(const Report& report) {
  std::vector<ChartFile> files;
  const auto add = [&](const std::vector<Chart>& charts, const std::string& study) {
    for (const Chart& chart : charts) {
      files.push_back({study + "." + chart.name + ".svg", chart.svg.file()});
    }
  };
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    add(study_charts(report.studies[i], report.verdicts[i]), file_name_of(report.studies[i]));
  }
  if (!report.trainings.empty()) add(training_charts(report.trainings), "training");
  // Studies of one title differ in what it does not tell; none may overwrite another.
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto earlier = static_cast<std::size_t>(
        std::count_if(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const ChartFile& one) { return one.name == files[i].name; }));
    if (earlier > 0) files[i].name = fmt::format("{}-{}", i, files[i].name);
  }
  return files;
}

}  // namespace feedrate::tools
