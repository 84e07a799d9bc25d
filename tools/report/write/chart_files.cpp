#include <cctype>
#include <set>

#include "tools/report/draw/charts.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

// Of 255 bytes that a file system allows; the rest is for the chart's name and prefixes.
constexpr std::size_t max_name_bytes = 120;

/// The title with every run of other characters than letters, digits and dots made a hyphen.
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
  return name.substr(0, max_name_bytes);
}

}  // namespace

std::vector<ChartFile> report_svg(const Report& report) {
  std::vector<ChartFile> files;
  std::set<std::string> used;
  const auto add = [&](const std::vector<Chart>& charts, const std::string& study) {
    for (const Chart& chart : charts) {
      std::string name = study + "." + chart.name + ".svg";
      // Titles are not unique: they leave out the recipe, for example.
      while (!used.insert(name).second) name = "other-" + name;
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
