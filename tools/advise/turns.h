#pragma once
// Measures everything that will be compared in turns: one slice of each, then the next of each. A
// machine's speed drifts within a minute, by more than many a gain; what took turns drifts
// together.

#include <functional>
#include <span>

#include "tools/advise/prediction.h"

namespace feedrate::tools {

/// What is loaded, and the way that it stands for.
struct Subject {
  const formats::Dataset* dataset = nullptr;
  Way* way = nullptr;
};

struct Turns {
  unsigned rounds = 3;
  unsigned max_threads = 1;
  SupplyOptions supply{};                 // its threads are not looked at
  std::function<double()> demand{};       // images/s of the consumer, another slice; may be absent
  std::function<void(unsigned)> begun{};  // called with each round, from 0; may be absent
};

/// Fills each way's `one` and `most`. Returns the demand of each round. Throws what the loader and
/// the consumer throw.
std::vector<double> measure_in_turns(std::span<const Subject> subjects,
                                     const loader::Recipe& recipe, const Turns& turns);

}  // namespace feedrate::tools
