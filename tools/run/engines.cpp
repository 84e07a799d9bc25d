#include "tools/run/engines.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "tools/measure/or_null.h"

namespace feedrate::tools {
using nlohmann::ordered_json;
using trainer::ProductEngine;

ordered_json engines_json(std::span<const ProductEngine> engines) {
  ordered_json list = ordered_json::array();
  for (const ProductEngine& engine : engines) {
    list.push_back({{"node", engine.node},
                    {"product", engine.product},
                    {"name", engine.name},
                    {"notes", engine.notes},
                    {"workspace_bytes", engine.workspace},
                    {"milliseconds", or_null<ordered_json>(engine.milliseconds)},
                    {"fallback", or_null<ordered_json>(engine.fallback)}});
  }
  return list;
}

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
