#pragma once
// IEEE half precision, rounded as processors do.

#include <bit>
#include <cstdint>

namespace feedrate::loader {

/// The bits of the half nearest to `value`, ties to even; infinite from 65520 on. NaN stays NaN.
constexpr std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) {  // NaN
    return static_cast<std::uint16_t>(sign | 0x7e00U | (size >> 13 & 0x1ffU));
  }
  if (size >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size < 0x38800000U) {  // subnormal: adding 0.5 rounds to steps of 2^-24
    const float counted = std::bit_cast<float>(size) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(counted) - 0x3f000000U));
  }
  const std::uint32_t rounded = size + 0xfffU + (size >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000U) >> 13);
}

/// The same, by the instruction of processors that all have one.
inline std::uint16_t converted_to_half(float value) {
#if defined(__ARM_FP16_FORMAT_IEEE)
  return std::bit_cast<std::uint16_t>(static_cast<__fp16>(value));
#else
  return half_bits(value);
#endif
}

/// The number that these bits mean.
constexpr float half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16, fraction = bits & 0x3ffU;
  const std::uint32_t exponent = bits >> 10 & 31U;
  if (exponent == 0) {  // subnormal: steps of 2^-24
    const float counted = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -counted : counted;
  }
  const std::uint32_t wide = exponent == 31 ? 255U : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace feedrate::loader
