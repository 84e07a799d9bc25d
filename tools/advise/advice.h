#pragma once
// What `feedrate advise` says: how many threads, what limits, and which conversion would help.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/advise/prediction.h"

namespace feedrate::tools {

/// A conversion that was tried on some of the images.
struct Alternative {
  Way way;
  Prediction prediction;
  double convert_seconds = 0;  // that all images would take
  std::string command;         // that does it
  bool fits = true;            // into the machine's memory, or the present dataset does not either
};

struct Advice {
  std::string dataset;
  std::uint64_t images = 0;
  std::string recipe;
  std::uint32_t batch = 0;
  std::string consumer_name;  // "lenet on cpu", "--target"; "": whoever takes what comes
  Consumer consumer;
  Way present;
  Prediction now;
  std::vector<Alternative> alternatives;

  /// The one that delivers most, of those the one with the fewest threads, then of the fewest
  /// bytes. Null where none gains more than it may be wrong by.
  const Alternative* best() const;
  /// The verdict, then the figures.
  std::string text() const;
  /// One object; what has no meaning is null.
  std::string json() const;
};

}  // namespace feedrate::tools
