#pragma once
// Checks of ops' inputs and attributes; an Error names the value and what was expected.

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/base/error.h"
#include "trainer/graph/graph.h"

namespace feedrate::trainer {

inline const Extent& only_input(std::span<const Extent> inputs) {
  if (inputs.size() != 1) throw formats::Error(formats::join("takes 1 input, not ", inputs.size()));
  return inputs[0];
}

/// The attribute as a whole number of at least `least`.
inline std::int64_t at_least(const Attributes& attributes, std::string_view name,
                             std::int64_t least) {
  const std::int64_t value = attributes.integer(name);
  if (value < least)
    throw formats::Error(formats::join("'", name, "' must be at least ", least, ", not ", value));
  return value;
}

/// The weight of a loss in the total: 1, except for auxiliary heads.
inline double loss_weight(const Attributes& attributes) {
  return attributes.integer("auxiliary") != 0 ? attributes.number("weight") : 1;
}

/// The groups of a convolution: 1 unless given.
inline std::int64_t groups_of(const Attributes& attributes) {
  const std::int64_t groups = attributes.integer("groups", 1);
  if (groups < 1) throw formats::Error(formats::join("'groups' must be at least 1, not ", groups));
  return groups;
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
    if (pad >= kernel)
      throw formats::Error(
          formats::join("a pad of ", pad, " must be less than the kernel, ", kernel));
  }
  /// Positions along a side, the last partial one dropped.
  std::int64_t positions(std::int64_t side) const {
    const std::int64_t room = side + 2 * pad - kernel;
    if (room < 0) {
      throw formats::Error(formats::join("a window of ", kernel, " does not fit a side of ", side,
                                         " padded by ", pad));
    }
    return room / stride + 1;
  }
  /// The same, but with `ceil` (Caffe's rule) a last partial window counts if it starts inside the
  /// image or its leading pad, even if it is the only one.
  std::int64_t pooled(std::int64_t side, bool ceil) const {
    const std::int64_t room = side + 2 * pad - kernel;
    if (!ceil || room <= -stride) return positions(side);
    const std::int64_t all = (room + stride - 1) / stride + 1;
    return (all - 1) * stride >= side + pad ? all - 1 : all;
  }
};

}  // namespace feedrate::trainer
