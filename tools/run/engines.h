#pragma once
// What a report says of the engines that a library runs for a network's products.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "trainer/backends/product_engine.h"

namespace feedrate::tools {

/// A list of objects, as tools/JSON.md describes.
nlohmann::ordered_json engines_json(std::span<const trainer::ProductEngine> engines);

/// Which of them are fallbacks, and why: a sentence for all; "" if none is.
std::string fallback_warning(std::span<const trainer::ProductEngine> engines);

}  // namespace feedrate::tools
