#pragma once
// Reads, checks and decodes every sample of a dataset, in parallel threads of its own.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "formats/digest.h"

namespace feedrate {

struct Verification {
  std::uint64_t samples = 0;      // read and decoded without a finding of their own
  std::vector<Finding> findings;  // empty when the dataset is sound
  std::vector<std::uint64_t> class_counts;
  std::vector<Shape> shapes;           // distinct ones, at most 16
  DatasetDigest digest;                // meaningful when there are no findings
  std::vector<Sha256> sample_digests;  // in index order: what `--against` compares
};

/// progress(done, total) is called from one thread at a time and must not throw. At most `threads`
/// threads (≥ 1).
Verification verify(const Dataset& dataset, unsigned threads,
                    const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace feedrate
