#pragma once
// What `feedrate train` measured in each of its modes, for people and for programs.

#include <string>

#include "tools/lab/jobs/forward.h"
#include "tools/lab/jobs/training.h"

namespace feedrate::tools {

/// Lines: the rate, the wait, the loss and the accuracy.
std::string to_text(const TrainingRequest& request, const TrainingReport& report);
std::string to_text(const TrainingRequest& request, const ForwardReport& report);

/// One object; what was not measured is null.
std::string to_json(const TrainingRequest& request, const TrainingReport& report);
std::string to_json(const TrainingRequest& request, const ForwardReport& report);

}  // namespace feedrate::tools
