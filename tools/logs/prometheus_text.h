#pragma once
// Prometheus' text format, for the node exporter's textfile collector (which wants a name that ends
// in .prom):
//
//   # HELP feedrate_train_loss Mean training loss since the report before.
//   # TYPE feedrate_train_loss gauge
//   feedrate_train_loss{network="lenet"} 2.5

#include <initializer_list>
#include <string>
#include <string_view>

namespace feedrate::tools {

class PrometheusText {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;  // any text
  };
  /// `labels` of every sample.
  explicit PrometheusText(std::initializer_list<Label> labels = {});
  /// What stands at another value each time.
  void gauge(std::string_view name, std::string_view help, double value);
  /// What only grows; its name ends in "_total".
  void counter(std::string_view name, std::string_view help, double value);
  /// All that was added since the last call.
  std::string take();

 private:
  void add(std::string_view type, std::string_view name, std::string_view help, double value);
  std::string labels_;
  std::string text_;
};

}  // namespace feedrate::tools
