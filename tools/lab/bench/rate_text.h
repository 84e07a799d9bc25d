#pragma once
// What a bench says of a measured point. Pure function.

#include <string>

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// "5,012 images/s (95 % interval 4,950 to 5,074, spread 1.2 %); predicted 5,100, 1.8 % too high"
std::string rate_text(const Row& row);

}  // namespace feedrate::tools
