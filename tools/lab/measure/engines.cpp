#include "tools/lab/measure/engines.h"

#include <fmt/format.h>

#include <cstddef>

namespace feedrate::tools {
using trainer::ProductEngine;

std::string fallback_warning(std::span<const ProductEngine> engines) {
  constexpr std::size_t max_named = 3;
  std::string named;
  std::size_t count = 0;
  for (const ProductEngine& engine : engines) {
    if (engine.fallback.empty() || ++count > max_named) continue;
    named += fmt::format("{}{}, {} (engine {}): {}", named.empty() ? "" : "; ", engine.node,
                         engine.product, engine.name, engine.fallback);
  }
  if (count == 0) return {};
  return fmt::format("{} of {} products run on engines that may be slow: {}{}", count,
                     engines.size(), named, count > max_named ? "; --json lists all" : "");
}

}  // namespace feedrate::tools
