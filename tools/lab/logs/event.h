#pragma once
// The events of a run of `feedrate train` or `feedrate load`. An event has a type and values by
// key; README.md lists both. Logs are written from these events alone.

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
  /// The latest event of each type, this one included: any event describes the whole run so far.
  std::map<std::string_view, Fields> last;

  /// Turns this into the next event of the run, which happens now.
  void become(std::string_view next, Fields fields);
  /// Null if there has been no event of this type, or if it lacks the key.
  const Value* find(std::string_view of_type, std::string_view key) const;
  /// Like find(), for a number that is known to exist.
  double number(std::string_view of_type, std::string_view key) const;
};

}  // namespace feedrate::tools
