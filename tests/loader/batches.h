#pragma once
// Hashes of batches, for tests of the loader.

#include <string>
#include <vector>

#include "formats/digests/digest.h"
#include "loader/loader.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;

/// Hash of everything in a batch that a trainer can see.
inline std::string batch_digest(const Batch& batch) {
  const std::uint64_t head[] = {batch.number, batch.epoch, batch.count,
                                batch.last_of_epoch ? 1U : 0U};
  Hasher hasher;
  hasher.add(std::as_bytes(std::span(head)));
  hasher.add(std::as_bytes(batch.labels));
  hasher.add(batch.bytes());
  return hex(hasher.finish());
}

/// The hashes of all batches up to the end.
inline std::vector<std::string> digests(BatchSource& source) {
  std::vector<std::string> all;
  while (const Batch* batch = source.next()) all.push_back(batch_digest(*batch));
  return all;
}

inline std::vector<std::string> digests(const Dataset& dataset, const Recipe& recipe,
                                        const LoaderOptions& options) {
  Loader loader(dataset, recipe, options);
  return digests(loader);
}

}  // namespace feedrate::testing
