#pragma once
// A look at a bounded number of samples, spread evenly over a dataset: what the whole is like,
// told in an instant however large it is. Pixels are not decoded.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "formats/io/sweep.h"

namespace feedrate::formats {

/// How numbers are spread: least, 5 of 100 below, as many below as above, 5 of 100 above, most.
struct Quantiles {
  std::uint64_t least = 0, low = 0, median = 0, high = 0, most = 0;
  bool operator==(const Quantiles&) const = default;
};

/// Each is one of `values` (the nearest rank); all 0 where there are none.
Quantiles quantiles(std::vector<std::uint64_t> values);

struct SurveyLimits {
  std::uint64_t samples = 10'000;  // looked at, at most; 0: all of them
  double seconds = 0.15;           // no more are begun after this; 0: no limit
  unsigned threads = 8;            // they mostly wait for the disk
};

struct Survey {
  struct Seen {
    std::uint64_t index = 0;
    std::int32_t label = 0;
    std::uint64_t bytes = 0;    // encoded
    std::uint64_t decoded = 0;  // bytes
  };
  std::vector<Seen> samples;  // those looked at that can be read, in index order
  std::map<std::int32_t, std::uint64_t> class_counts;        // of them
  std::map<std::string, std::uint64_t, std::less<>> codecs;  // of them
  std::uint64_t grey = 0;                                    // of them, with one channel
  Quantiles heights, widths;                                 // in pixels
  Quantiles bytes;                                           // of the encoded images
  std::uint64_t total_bytes = 0;                             // of the encoded images
  std::uint64_t unreadable = 0;                              // looked at, and damaged
  std::string first_unreadable;  // the Error of the first of them, by index; empty: none

  std::uint64_t looked() const { return samples.size() + unreadable; }
};

/// Which sample is looked at as number `turn` (0 … size - 1) of `size`: each once, and those of the
/// first turns, however many, lie evenly over all. Labels that repeat in step do not mislead it.
std::uint64_t evenly_spread(std::uint64_t turn, std::uint64_t size);

/// The same at any number of threads, unless the time ran out. Damaged samples are counted.
Survey survey(const Dataset& dataset, const SurveyLimits& limits = {},
              const ProgressCallback& progress = {});

}  // namespace feedrate::formats
