#include <cctype>
#include <set>

#include "tools/report/draw/charts.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

// File systems take 255 bytes, of which the chart's own name wants some.
constexpr std::size_t longest_name = 120;

/// A study's title as part of a file's name.
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

}  // namespace

std::vector<ChartFile> report_svg(const Report& report) {
  std::vector<ChartFile> files;
  std::set<std::string> taken;
  const auto add = [&](const std::vector<Chart>& charts, const std::string& study) {
    for (const Chart& chart : charts) {
      std::string name = study + "." + chart.name + ".svg";
      // Studies of one title differ in what it does not tell; none may overwrite another.
      while (!taken.insert(name).second) name = "other-" + name;
      files.push_back({name, chart.svg.file()});
    }
  };
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    add(study_charts(report.studies[i], report.verdicts[i]), file_name_of(report.studies[i]));
  }
  add(training_charts(report.trainings), "training");
  return files;
}

}  // namespace feedrate::tools
