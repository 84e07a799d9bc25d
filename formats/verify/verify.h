#pragma once
// Reads, checks and decodes every sample of a dataset in several threads, then checks the whole:
// against the sidecar and published figures, for repeats, and the files beside it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/base/sweep.h"
#include "formats/dataset.h"
#include "formats/digests/digest.h"

namespace feedrate::formats {

/// Limit on samples whose findings are kept; a last finding says how many more there are.
inline constexpr std::size_t max_findings = 1000;

struct Verification {
  bool complete = true;           // false: stopped on request (formats/base/stop.h) before the end
  std::uint64_t looked_at = 0;    // samples, with or without a finding
  std::uint64_t samples = 0;      // read and decoded without a finding of their own
  std::vector<Finding> findings;  // empty when the dataset is intact
  std::vector<Finding> notes;  // worth knowing but not wrong: repeated images, unknown counts …
  std::vector<std::uint64_t> class_counts;
  std::map<std::string, std::uint64_t, std::less<>> codecs;  // samples of each
  std::vector<Shape> shapes;                                 // distinct ones, at most 16
  DatasetDigest digest;        // empty when a sample could not be decoded
  std::string bytes_digest;    // of the samples as they are stored; empty likewise
  std::string details_digest;  // of what is stored beside the images; empty where nothing is
  /// The digest and the bytes_digest in the order in which the samples were written; empty where a
  /// container does not keep that order and nothing beside the data tells it.
  std::string written_digest, written_bytes_digest;
  std::vector<Sha256> sample_digests;  // in index order: what compare() wants
};

/// At most `threads` threads (≥ 1). Takes up to 100 bytes a sample: 130 MB for ImageNet, and
/// twice that for a folder. When a stop is requested, the result holds what was found so far, and
/// nothing of the whole was checked.
Verification verify(const Dataset& dataset, unsigned threads,
                    const ProgressCallback& progress = {});

}  // namespace feedrate::formats
