#pragma once
// Reads a bounded number of samples, spread evenly over a dataset, to describe the whole in an
// instant however large it is. Does not decode pixels.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/base/sweep.h"
#include "formats/dataset.h"

namespace feedrate::formats {

/// The distribution of numbers: minimum, 5th percentile, median, 95th percentile, maximum.
struct Quantiles {
  std::uint64_t min = 0, low = 0, median = 0, high = 0, max = 0;
  bool operator==(const Quantiles&) const = default;
};

/// Each is one of `values` (the nearest rank); all 0 if there are none.
Quantiles quantiles(std::vector<std::uint64_t> values);

struct SurveyLimits {
  std::uint64_t samples = 10'000;  // read at most this many; 0: all of them
  double seconds = 0.15;           // read no more after this time; 0: no limit
  unsigned threads = 8;            // they mostly wait for the disk
};

struct Survey {
  struct Seen {
    std::uint64_t index = 0;
    std::int32_t label = 0;
    std::uint64_t bytes = 0;    // encoded
    std::uint64_t decoded = 0;  // bytes
  };
  std::vector<Seen> samples;                                 // that were read, in index order
  std::map<std::int32_t, std::uint64_t> class_counts;        // of `samples`
  std::map<std::string, std::uint64_t, std::less<>> codecs;  // of `samples`
  std::uint64_t grey = 0;                                    // of `samples`: with one channel
  Quantiles heights, widths;                                 // in pixels
  Quantiles bytes;                                           // of the encoded images
  std::uint64_t total_bytes = 0;                             // of the encoded images
  std::uint64_t unreadable = 0;                              // damaged samples
  std::string first_unreadable;  // the error of the first one by index; empty: none

  std::uint64_t looked() const { return samples.size() + unreadable; }
};

/// The index of sample number `turn` (0 … size - 1) of a survey: each index once, and those of the
/// first turns, however many, are spread evenly. Periodic labels do not bias it.
std::uint64_t evenly_spread(std::uint64_t turn, std::uint64_t size);

/// The result is the same at any number of threads, unless time ran out. Damaged samples are
/// counted.
Survey survey(const Dataset& dataset, const SurveyLimits& limits = {},
              const ProgressCallback& progress = {});

}  // namespace feedrate::formats
