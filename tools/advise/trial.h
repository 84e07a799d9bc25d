#pragma once
// Tries a candidate on some of a dataset's images: converts them into a scratch directory, loads
// them, and says what all of them would come to.

#include "tools/advise/candidate.h"
#include "tools/advise/prediction.h"

namespace feedrate {

struct TrialOptions {
  std::uint64_t images = 0;  // converted, spread over the dataset
  unsigned most_threads = 1;
  SupplyOptions supply;  // its threads are not looked at
};

struct Trial {
  Way way;
  double convert_seconds = 0;  // that all images would take
};

/// So many images as a trial may hold in memory as pixels.
std::uint64_t trial_images(const Dataset& dataset, const Survey& survey);

/// Throws Error when the images cannot be read or the scratch directory cannot be written.
Trial try_candidate(const Candidate& candidate, const Dataset& dataset, const Recipe& recipe,
                    const TrialOptions& options);

}  // namespace feedrate
