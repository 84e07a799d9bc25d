#pragma once
// What limited a run, from what the loader counted of itself.

#include <cstdint>
#include <string>
#include <string_view>

#include "loader/loader.h"

namespace feedrate::loader {

/// Who kept the images from coming faster: a stage of the workers, or who takes the batches.
enum class Bound : std::uint8_t { fetch, decode, augment, consumer };

struct Verdict {
  Bound bound = Bound::consumer;
  double supply = 0;  // images/s, had the workers never waited
  double demand = 0;  // images/s, had the consumer never waited
  double stage = 0;   // share of the workers' busy time in the bound stage, or in the longest one

  /// How many times as fast the other side could go: at least 1.
  double margin() const { return bound == Bound::consumer ? supply / demand : demand / supply; }
  /// "decode-bound: …", a line.
  std::string text() const;
};

std::string_view name(Bound bound);
/// "2.4 times", "37 times"
std::string times(double factor);

/// Of a run with `threads` workers (0: the consumer fills). Where nothing was handed out all is 0.
Verdict judge(const LoaderStats& stats, unsigned threads);

}  // namespace feedrate::loader
