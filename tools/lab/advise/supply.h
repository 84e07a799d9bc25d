#pragma once
// Supply: the rate of a loader whose batches are dropped, at one number of threads.

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/loader.h"
#include "tools/lab/measure/contention.h"

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
  Contention contention{};  // mean, over all slices

  /// The median of the rates.
  double rate() const;
  /// Half the range from the slowest slice to the fastest, as a share of the rate. Of CPU time, where others had the
  /// cores: a tenth.
  double doubt() const;
  /// Thread-seconds for an image, including waits for files and hand-over, without the time that threads waited
  /// for a core which other programs had.
  double cost() const;
  /// CPU seconds for an image; thread-seconds where that was not measured.
  double cpu_cost() const { return cpu > 0 ? cpu : cost(); }
  /// The share of a core that each thread got, where others had the cores; nothing where they had not.
  std::optional<double> ran_while_crowded() const;
};

/// Measures another slice, with a new loader and another order. Throws what the loader throws.
void add_slice(Supply& supply, const formats::Dataset& dataset, const loader::Recipe& recipe,
               const SupplyOptions& options);

}  // namespace feedrate::tools
