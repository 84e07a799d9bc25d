#pragma once
// The labels of all samples, for orders that depend on them. No codec has to know the images.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "loader/bad.h"

namespace feedrate::loader {

struct Labels {
  std::vector<std::int32_t> of_samples;  // below 0 where there is none
  std::vector<BadSample> bad;            // those
  std::uint32_t classes = 0;             // the largest label + 1

  /// What to say of the bad ones; empty where there are none.
  std::string note() const;
};

/// Reads the label of every sample. One that cannot be read or is below 0 is an Error under
/// BadPolicy::fail; under the others it is listed, and more than `budget` are an Error. What a server
/// refuses is an Error under all.
Labels labels_of(const formats::Dataset& dataset, BadPolicy policy = BadPolicy::fail,
                 std::uint64_t budget = 0);

}  // namespace feedrate::loader
