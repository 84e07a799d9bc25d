#pragma once
// What ops ask of their inputs and attributes; failures name the number and what it should be.

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

/// Of a loss in the sum of all: 1 but for auxiliary heads.
inline double loss_weight(const Attributes& attributes) {
  return attributes.integer("auxiliary") != 0 ? attributes.number("weight") : 1;
}

/// Of a convolution: 1 unless given.
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
      throw formats::Error(formats::join("a pad of ", pad, " is no less than the kernel ", kernel));
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
  /// The same; with `ceil` (Caffe's rule) a last partial one counts as long as it starts inside the
  /// image or its leading pad, be it the only one.
  std::int64_t pooled(std::int64_t side, bool ceil) const {
    const std::int64_t room = side + 2 * pad - kernel;
    if (!ceil || room <= -stride) return positions(side);
    const std::int64_t all = (room + stride - 1) / stride + 1;
    return (all - 1) * stride >= side + pad ? all - 1 : all;
  }
};

}  // namespace feedrate::trainer
