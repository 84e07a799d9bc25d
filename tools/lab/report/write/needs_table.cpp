#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/console/text.h"
#include "tools/lab/report/study/scaling.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

/// An error beyond this is told before the numbers.
constexpr double max_error = 0.1;

std::string cores_cell(const Range& cores) {
  return cores_text(whole_cores(cores.likely), whole_cores(cores.low), known_cores(cores.high));
}

/// How the prediction did where it can be measured, over all needs.
struct Tried {
  double error = 0;                  // the largest, as a share
  unsigned most = 0;                 // threads that were predicted
  std::vector<std::string> careful;  // names of what missed by too much, and by how much
  std::vector<std::string> kernels;  // and of what may be serial

  void add(const std::string& name, const Need& need) {
    const double share = need.scaling.kernel_share;
    if (share > large_kernel_share)
      add_once(kernels, fmt::format("{:.0f} % of the CPU time with {}", 100 * share, name));
    if (!need.scaling.tried()) return;
    const double missed = std::abs(*need.scaling.tried());
    error = std::max(error, missed);
    most = std::max(most, need.scaling.most);
    if (missed <= max_error) return;
    add_once(careful, fmt::format("{} by {:.0f} %", name, 100 * missed));
  }

  // Two devices are fed by one supply.
  static void add_once(std::vector<std::string>& texts, std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }

  std::string kernel_text() const {
    if (kernels.empty()) return {};
    return fmt::format(
        " The kernel takes {}. Kernel work may not scale to more cores, so the upper end of the "
        "range "
        "assumes that it does not.",
        fmt::join(kernels, ", "));
  }

  std::string text() const {
    if (most == 0) return "Only one thread count was measured, so scaling was not checked.";
    if (!careful.empty()) {
      return fmt::format(
          "Unreliable: from the fewest to {} threads, CPU time per image grew: {}. It may go on "
          "growing "
          "with more cores.",
          most, fmt::join(careful, ", "));
    }
    return fmt::format(
        "Check: from the fewest to {} threads, CPU time per image changed by at most {:.0f} %.",
        most, 100 * error);
  }
};

struct Fed {
  const Study* study;
  std::vector<Need> needs;
};

/// "resnet50 on emulated h100", and what tells studies of one network and device apart. The images do not: they
/// have rows of their own.
std::string head_of(const Fed& fed, const std::vector<Fed>& all) {
  const Study& study = *fed.study;
  std::string head = fmt::format("{} on {}", study.network, study.device);
  const auto add = [&](const auto& text_of) {
    const std::string own = text_of(fed);
    const bool differs = std::ranges::any_of(all, [&](const Fed& other) {
      return other.study->network == study.network && other.study->device == study.device &&
             text_of(other) != own;
    });
    if (differs && !own.empty()) head += ", " + own;
  };
  add([](const Fed& one) {
    const std::optional<double>& rate = one.study->emulated_rate;
    return rate ? quantity(*rate) + "/s" : one.study->emulates;
  });
  add([](const Fed& one) { return one.study->precision; });
  add([](const Fed& one) { return fmt::format("batch {}", one.study->batch); });
  add([](const Fed& one) { return one.study->recipe; });
  add([](const Fed& one) {
    const std::string& machine = one.study->machine;
    return machine.empty() ? machine : "fed by " + machine;
  });
  return head;
}

/// That of this heading, added where there is none yet.
std::size_t column_of(std::vector<std::string>& heads, const std::string& head) {
  const auto found = std::ranges::find(heads.begin() + 1, heads.end(), head);
  const auto column = static_cast<std::size_t>(found - heads.begin());
  if (found == heads.end()) heads.push_back(head);
  return column;
}

}  // namespace

Table needs_table(const Report& report) {
  Table table{.title = "CPU cores needed to keep the GPU busy", .heads = {"format"}};
  Tried tried;
  std::vector<Fed> all;
  for (const Study& study : report.studies) {
    std::vector<Need> found;
    if (study.device != "cpu") found = needs(study);
    if (!found.empty()) all.push_back({&study, std::move(found)});
  }
  for (const Fed& fed : all) {
    const Study& study = *fed.study;
    const std::size_t column = column_of(table.heads, head_of(fed, all));
    for (const Need& need : fed.needs) {
      const std::string name =
          study.dataset.empty() ? need.curve->format : study.dataset + ", " + need.curve->format;
      auto row =
          std::ranges::find_if(table.rows, [&](const auto& one) { return one.cells[0] == name; });
      if (row == table.rows.end()) {
        table.rows.push_back({.cells = {name}, .series = series_of(study, *need.curve)});
        row = table.rows.end() - 1;
      }
      row->cells.resize(std::max(row->cells.size(), column + 1), not_measured);
      row->cells[column] = cores_cell(need.cores);
      tried.add(study.machine.empty() ? name : name + " on " + study.machine, need);
    }
  }
  for (auto& row : table.rows) row.cells.resize(table.heads.size(), not_measured);
  const std::string costs =
      "Cores = images/s of the GPU × CPU time per image at the highest thread count. In "
      "parentheses: the "
      "range that noise and imperfect scaling leave. Add one core for the training process.";
  table.note = tried.careful.empty() ? costs + " " + tried.text() : tried.text() + " " + costs;
  table.note += tried.kernel_text();
  return table;
}

}  // namespace feedrate::tools
