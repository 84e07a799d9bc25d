#pragma once
// The stream of events of a run of `feedrate train` or `feedrate load`. An event has a type and
// values by key; README.md lists both. Every log is made of these events and of nothing else.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loader/loader.h"
#include "trainer/loop/trainer.h"

namespace feedrate::tools {

using Value = std::variant<bool, std::uint64_t, double, std::string>;
struct Field {
  std::string_view key;
  Value value;
};
using Fields = std::vector<Field>;

Fields fields_of(const trainer::TrainOptions::Progress& progress, double learning_rate);
Fields fields_of(const trainer::Evaluation& validation, std::uint64_t step, std::uint64_t epochs);
Fields fields_of(const loader::LoaderStats& stats);

struct Event {
  std::string_view type;
  std::chrono::system_clock::time_point time;
  /// By type, the last of each so far with this one: any event tells how the whole run stands.
  std::map<std::string_view, Fields> last;

  /// The next event of the run, which happens now.
  void become(std::string_view next, Fields fields);
  /// Null where there was no such event yet, or it lacks the key.
  const Value* find(std::string_view of_type, std::string_view key) const;
  /// As find(), of a number that is there.
  double number(std::string_view of_type, std::string_view key) const;
};

// What each kind of log has for an event, one file each; "": nothing.
std::string json_line(const Event& event);
std::string mllog_lines(const Event& event);
std::string tensorboard_record(const Event& event);
std::string prometheus_metrics(const Event& event);

}  // namespace feedrate::tools
