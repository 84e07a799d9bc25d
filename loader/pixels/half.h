#pragma once
// IEEE half precision, as processors round to it.

#include <bit>
#include <cstdint>

namespace feedrate::loader {

/// The bits of the half nearest to `value`, the even one of two; infinite beyond 65504.
constexpr std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) {  // no number: stays none
    return static_cast<std::uint16_t>(sign | 0x7e00U | (size >> 13 & 0x1ffU));
  }
  if (size >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size < 0x38800000U) {  // a half without a leading one: 0.5 has it count in steps of 2^-24
    const float counted = std::bit_cast<float>(size) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(counted) - 0x3f000000U));
  }
  const std::uint32_t rounded = size + 0xfffU + (size >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000U) >> 13);
}

}  // namespace feedrate::loader
