#pragma once
// A candidate tried on some of a dataset's images: they are converted into a scratch directory, to
// be loaded from there, and what all of them would come to is reckoned from these.

#include <filesystem>
#include <memory>

#include "tools/advise/candidate.h"
#include "tools/advise/prediction.h"
#include "tools/advise/trial_sample.h"

namespace feedrate::tools {

/// A directory of its own for as long as it lives, under $TMPDIR or /tmp.
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
  std::unique_ptr<formats::Dataset> dataset;  // of them
  Way way;                                    // nothing of it was loaded yet
  double convert_seconds = 0;                 // that all images would take
};

/// Converts those images of the dataset, in its order. Throws Error when they cannot be read or the
/// scratch directory cannot be written.
Trial try_candidate(const Candidate& candidate, const formats::Dataset& dataset,
                    const TrialSample& images);

}  // namespace feedrate::tools
