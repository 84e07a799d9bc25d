#pragma once
// The kinds of logs that a run can keep. Each is a constant in a file of its own; list.inc names
// them.

#include <functional>
#include <string>
#include <string_view>

#include "tools/lab/logs/event.h"

namespace feedrate::tools {

struct LogKind {
  std::string_view name;   // of the option that asks for it
  std::string_view place;  // "FILE", or "DIR", in which each run creates a file
  std::string_view summary;
  bool follows_load;                   // an option of load too, not only of train
  bool replaces;                       // the file holds only the latest event
  std::string (*bytes)(const Event&);  // what it writes for an event; "": nothing
  std::string_view line{};             // the beginning of each line, where runs go on in a file
};

#define FEEDRATE_ROW(name) extern const LogKind name##_log;
#include "tools/lab/logs/list.inc"
#undef FEEDRATE_ROW

/// All kinds, in the order of help.
inline constexpr std::reference_wrapper<const LogKind> log_kinds[] = {
#define FEEDRATE_ROW(name) name##_log,
#include "tools/lab/logs/list.inc"
#undef FEEDRATE_ROW
};

}  // namespace feedrate::tools
