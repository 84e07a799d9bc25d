#pragma once
// Tries a candidate on a sample of a dataset's images: converts them into a scratch directory, from
// which they can be loaded, and extrapolates size and time to the whole dataset.

#include <filesystem>
#include <memory>

#include "tools/lab/advise/candidate.h"
#include "tools/lab/advise/prediction.h"
#include "tools/lab/advise/trial_sample.h"

namespace feedrate::tools {

/// A temporary directory under $TMPDIR or /tmp; the destructor removes it.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Trial {
  std::unique_ptr<ScratchDirectory> scratch;  // holds the converted images
  std::unique_ptr<formats::Dataset> dataset;  // of the converted images
  Variant variant;                            // its supply is not measured yet
  double convert_seconds = 0;                 // for all images
};

/// Converts the sample's images, in the order of the dataset. Throws Error when they cannot be read
/// or the scratch directory cannot be written.
Trial try_candidate(const Candidate& candidate, const formats::Dataset& dataset,
                    const TrialSample& images);

}  // namespace feedrate::tools
