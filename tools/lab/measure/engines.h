#pragma once
// What a report says of the engines that a library runs for a network's products.

#include <span>
#include <string>

#include "trainer/backends/product_engine.h"

namespace feedrate::tools {

/// Which of them are fallbacks, and why: a sentence for all; "" if none is.
std::string fallback_warning(std::span<const trainer::ProductEngine> engines);

}  // namespace feedrate::tools
