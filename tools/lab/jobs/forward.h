#pragma once
// Runs a network forward only: how long 1,000 images take, and their features.

#include <string>

#include "tools/lab/jobs/open.h"
#include "trainer/loop/infer.h"

namespace feedrate::tools {

struct ForwardReport {
  RunReport run;
  trainer::Inference result;
  std::string features;              // name of the node that gives them; "": infer
  trainer::Extent feature_extent{};  // of one image
};

/// Takes a complete request whose mode is infer or features. Images come in the dataset's order and
/// are cropped as for evaluation; weights come from the checkpoint to resume, or, with a warning,
/// from the seed. Throws Error when a name, a file or the device does not fit.
ForwardReport run_forward(const TrainingRequest& request);

}  // namespace feedrate::tools
