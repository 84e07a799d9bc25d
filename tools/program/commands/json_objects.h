#pragma once
// Every JSON object that the program prints or reads.

#include <vector>

#include "tools/console/fields.h"

namespace feedrate::tools {

/// In the order of json_objects.inc. Each has a name: "load", "train-forward".
std::vector<Description> json_objects();

}  // namespace feedrate::tools
