#pragma once
// What batches have in place of classes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

/// A number, or a row of numbers, for every sample of a dataset. Immutable; any thread.
struct OwnLabels {
  using Classes = std::vector<std::int64_t>;  // whole numbers, one for each sample
  using Numbers = std::vector<float>;         // `width` for each

  std::variant<Classes, Numbers> values;
  std::size_t width = 0;  // 0: one number, without an axis of its own

  /// Those of these samples: an array of int64 or float32.
  nanobind::object of(std::span<const std::uint64_t> indices) const;
};

}  // namespace feedrate::tools
