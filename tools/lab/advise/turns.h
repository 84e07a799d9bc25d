#pragma once
// Measures everything that will be compared in turns: one slice of each, then the next of each. A
// machine's speed drifts within a minute by more than many gains; measurements that take turns
// drift together.

#include <functional>
#include <span>

#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {

/// A dataset to load, and the variant to whose supply the measurements go.
struct Subject {
  const formats::Dataset* dataset = nullptr;
  Variant* variant = nullptr;
};

struct Turns {
  unsigned rounds = 3;
  unsigned max_threads = 1;
  SupplyOptions supply{};                 // its `threads` is ignored
  Supply* half = nullptr;  // of the first subject with half of the cores hidden; null: not wanted
  std::function<double()> demand{};       // measures a slice of demand, in images/s; optional
  std::function<void(unsigned)> begun{};  // called before each round, counted from 0; optional
};

/// Fills `at_min` and `at_max` of each variant. Returns the demand of each round. Throws what the
/// loader and `demand` throw.
std::vector<double> measure_in_turns(std::span<const Subject> subjects,
                                     const loader::Recipe& recipe, const Turns& turns);

}  // namespace feedrate::tools
