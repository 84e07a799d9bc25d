#pragma once
// A network run forward alone from a command line: how long 1,000 images take, and their features.

#include "tools/run/training.h"
#include "trainer/loop/infer.h"

namespace feedrate::tools {

struct ForwardReport {
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint32_t batch = 0;
  unsigned threads = 0;  // of the loader, in the end
  std::string device_name;
  trainer::Inference result;
  std::string features;            // the node they are of; "" when inferring
  trainer::Extent feature_extent;  // of one image
  Telemetry telemetry;
};

/// Of a complete request whose mode is infer or features. Images come in the dataset's order, as
/// evaluation sees them; weights are those of --resume, or the seed's. Throws Error when a name, a
/// file or the device does not fit.
ForwardReport run_forward(const TrainingRequest& request);

}  // namespace feedrate::tools
