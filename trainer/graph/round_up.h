#pragma once
// Sizes rounded up to where the next block may start; for host and device.

#include <type_traits>

namespace feedrate::trainer {

/// The smallest multiple of `step` that is no less than `size`.
template <class Integer>
constexpr Integer round_up(Integer size, std::type_identity_t<Integer> step) {
  return (size + step - 1) / step * step;
}

}  // namespace feedrate::trainer
