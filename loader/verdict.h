#pragma once
// What limited a run, according to the loader's own counters.

#include <cstdint>
#include <string>
#include <string_view>

#include "loader/loader.h"

namespace feedrate::loader {

/// The bottleneck: a stage of the workers, or the consumer of the batches.
enum class Bound : std::uint8_t { fetch, decode, augment, consumer };

struct Verdict {
  Bound bound = Bound::consumer;
  double supply = 0;  // images/s if the workers never waited
  double demand = 0;  // images/s if the consumer never waited
  double stage = 0;   // share of the workers' busy time in the bound stage, or in the longest one

  /// How many times as fast as the bottleneck the other side is: at least 1.
  double margin() const { return bound == Bound::consumer ? supply / demand : demand / supply; }
  /// One line: "decode-bound: …".
  std::string text() const;
};

std::string_view name(Bound bound);
/// "2.4 times", "37 times"
std::string times(double factor);

/// The verdict on a run with `threads` workers (0: the consumer fills). All 0 when no image was
/// handed out.
Verdict judge(const LoaderStats& stats, unsigned threads);

}  // namespace feedrate::loader
