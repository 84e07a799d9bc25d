#pragma once
// Why a loop waits: a closed list of causes. Each has a test, what it would bring to remove it, and the line
// to change. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/diagnose/curve.h"
#include "tools/lab/diagnose/loop.h"

namespace feedrate::tools {

enum class CauseKind : std::uint8_t {
  decoding,
  transform,
  your_code,
  too_few_workers,
  more_workers_than_cores,
  workers_restarted,
  slow_spawn,
  many_small_tensors,
  float32,
  pinning,
  slow_storage,
  slow_sample,
  slow_collate,
  model,
  format
};
/// "12 %"
/// How many times as much, in two digits or a whole number.
std::string times_text(double times);
std::string percent_text(double share);
/// "too-few-workers"
std::string_view name(CauseKind kind);

struct Cause {
  CauseKind kind = CauseKind::model;
  std::string what{};    // a sentence or two
  double gain = 1;       // how many times as fast the loop would be
  bool bound = false;    // at most that: the part would take no time at all
  std::string where{};   // "train.py:31"; "": nowhere in particular
  std::string change{};  // what to write there; "": nothing
};

/// What it is, what removing it would bring, and the line to change.
std::string sentences(const Cause& cause);
/// " Without it, the loop is at most 3.1 times as fast."; "": it would bring nothing.
std::string gain_text(const Cause& cause);

/// What the causes are judged by.
struct Case {
  const Loop& loop;
  Costs costs;
};

/// The cause first whose removal must come first; then those that remain. Empty where the loop waits and none
/// explains it.
std::vector<Cause> causes_of(const Case& of);

}  // namespace feedrate::tools
