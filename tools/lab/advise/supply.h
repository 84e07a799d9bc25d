#pragma once
// Supply: the rate of a loader whose batches are dropped, at one number of threads.

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/loader.h"

namespace feedrate::tools {

struct SupplyOptions {
  loader::LoaderOptions loader{};  // its epochs do not count
  double seconds = 1;              // of a slice of measuring
};

struct Supply {
  unsigned threads = 0;
  std::vector<double> rates;  // images/s of each slice
  std::uint64_t images = 0;   // of all slices
  // Mean worker-seconds for an image, over all slices.
  double read = 0;
  double decode = 0;
  double augment = 0;
  // Mean processor-seconds of all threads for an image, and those of them in the kernel.
  double cpu = 0;
  double kernel = 0;
  std::optional<double> waiting_percent{};  // of the time, tasks of the machine waited for a core

  /// The median of the rates.
  double rate() const;
  /// Half the range from the slowest slice to the fastest, as a share of the rate.
  double doubt() const;
  /// Thread-seconds for an image, including waits and hand-over.
  double cost() const { return threads / rate(); }
  /// The share of it that the threads ran, where others had taken the cores; nothing where they had not.
  std::optional<double> ran_while_crowded() const;
};

/// Measures another slice, with a new loader and another order. Throws what the loader throws.
void add_slice(Supply& supply, const formats::Dataset& dataset, const loader::Recipe& recipe,
               const SupplyOptions& options);

}  // namespace feedrate::tools
