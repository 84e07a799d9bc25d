#pragma once
// What ops ask of their inputs and attributes; failures name the number and what it should be.

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/error.h"
#include "trainer/graph.h"

namespace feedrate {

inline const Extent& only_input(std::span<const Extent> inputs) {
  if (inputs.size() != 1) throw Error(join("takes 1 input, not ", inputs.size()));
  return inputs[0];
}

/// The attribute as a whole number of at least `least`.
inline std::int64_t at_least(const Attributes& attributes, std::string_view name,
                             std::int64_t least) {
  const std::int64_t value = attributes.integer(name);
  if (value < least) throw Error(join("'", name, "' must be at least ", least, ", not ", value));
  return value;
}

/// A square window that slides over an image.
struct Window {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t pad;

  explicit Window(const Attributes& attributes)
      : kernel(at_least(attributes, "kernel", 1)),
        stride(at_least(attributes, "stride", 1)),
        pad(at_least(attributes, "pad", 0)) {
    if (pad >= kernel) throw Error(join("a pad of ", pad, " is no less than the kernel ", kernel));
  }
  /// Positions along a side, the last partial one dropped.
  std::int64_t positions(std::int64_t side) const {
    const std::int64_t room = side + 2 * pad - kernel;
    if (room < 0) {
      throw Error(
          join("a window of ", kernel, " does not fit a side of ", side, " padded by ", pad));
    }
    return room / stride + 1;
  }
};

}  // namespace feedrate
