#pragma once
// The answer of `feedrate advise`: how many threads, what the limit is, which conversion helps.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {

/// A conversion that was tried on a sample of the images.
struct Alternative {
  Variant variant;
  Prediction prediction;
  double convert_seconds = 0;  // for all images
  std::string command;         // converts all images
  bool fits = true;            // fits into memory, or the present dataset does not fit either
};

struct Advice {
  std::string dataset;
  std::uint64_t images = 0;
  std::string recipe;
  std::uint32_t batch = 0;
  std::string consumer_name;  // "lenet on cpu", "--target"; "": takes any rate
  Consumer consumer;
  Variant present;
  Prediction now;
  std::vector<Alternative> alternatives;

  /// The alternative that delivers most; among equals the one with the fewest threads, then bytes.
  /// Null when no gain exceeds its doubt.
  const Alternative* best() const;
  /// The advice, then the figures.
  std::string text() const;
  /// One JSON object; values without a meaning are null.
  std::string json() const;
};

}  // namespace feedrate::tools
