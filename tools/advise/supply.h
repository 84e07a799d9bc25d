#pragma once
// What a loader gives when nothing is behind it, at one number of threads.

#include <cstdint>
#include <vector>

#include "loader/loader.h"

namespace feedrate::tools {

struct SupplyOptions {
  unsigned threads = 1;
  std::uint32_t batch = 64;
  std::uint64_t seed = 1;
  double seconds = 1;  // of a slice
};

struct Supply {
  unsigned threads = 0;
  std::vector<double> rates;  // images/s of each slice
  std::uint64_t images = 0;   // of all slices
  // Seconds of a worker for an image, over all slices.
  double read = 0;
  double decode = 0;
  double augment = 0;

  double rate() const;  // the median
  /// Half of what lies between the slowest slice and the fastest, as a share of the rate.
  double doubt() const;
  /// Seconds of a thread for an image, waits and handing over included.
  double cost() const { return threads / rate(); }
};

/// Measures another slice, with a loader and an order of its own. Throws what the loader throws.
void add_slice(Supply& supply, const formats::Dataset& dataset, const loader::Recipe& recipe,
               const SupplyOptions& options);

}  // namespace feedrate::tools
