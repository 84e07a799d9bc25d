#include "tools/logs/prometheus_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tools/cli/text.h"

namespace feedrate::tools {
namespace {

/// As a label's value: backslashes, quotes and line ends are written with a backslash. A reader
/// refuses the whole file for one byte that is no UTF-8.
std::string escaped(std::string_view text) {
  std::string plain;
  for (const char c : as_utf8(text)) {
    if (c == '\\' || c == '"') plain += '\\';
    if (c == '\n') {
      plain += "\\n";
    } else {
      plain += c;
    }
  }
  return plain;
}

/// What C++ calls inf and nan, Prometheus calls by other names.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

PrometheusText::PrometheusText(std::initializer_list<Label> labels) {
  for (const Label& label : labels) {
    labels_ +=
        fmt::format("{}{}=\"{}\"", labels_.empty() ? "" : ",", label.name, escaped(label.value));
  }
}

void PrometheusText::add(std::string_view type, std::string_view name, std::string_view help,
                         double value) {
  text_ +=
      fmt::format("# HELP feedrate_{0} {1}\n# TYPE feedrate_{0} {2}\nfeedrate_{0}{{{3}}} {4}\n",
                  name, help, type, labels_, number(value));
}

void PrometheusText::gauge(std::string_view name, std::string_view help, double value) {
  add("gauge", name, help, value);
}

void PrometheusText::counter(std::string_view name, std::string_view help, double value) {
  add("counter", name, help, value);
}

std::string PrometheusText::take() { return std::exchange(text_, {}); }

}  // namespace feedrate::tools
