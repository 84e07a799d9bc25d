#pragma once
// The types of the values between layers: fp32, or bf16, which is the upper half of an fp32. All
// maths is in fp32: layers widen what they load and round what they store.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace feedrate::trainer::cpu {

enum class ValueType : std::uint8_t { fp32, bf16 };
constexpr std::size_t bytes_of(ValueType type) { return type == ValueType::bf16 ? 2 : 4; }

class Bf16 {
 public:
  Bf16() = default;
  /// Rounds to the nearest, halves to even.
  [[gnu::always_inline]] constexpr explicit Bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U);
    // Rounding could turn a NaN into an infinity; NaN must stay NaN.
    bits_ = static_cast<std::uint16_t>((value == value ? rounded : bits | 0x400000U) >> 16);
  }
  [[gnu::always_inline]] constexpr operator float() const {
    return std::bit_cast<float>(std::uint32_t{bits_} << 16);
  }

 private:
  std::uint16_t bits_;
};

template <class T>
inline constexpr ValueType type_of_values = ValueType::fp32;
template <>
inline constexpr ValueType type_of_values<Bf16> = ValueType::bf16;

/// Returns body(T{}), where T is the type that `type` names.
template <class Body>
auto with_type(ValueType type, const Body& body) {
  return type == ValueType::bf16 ? body(Bf16{}) : body(float{});
}

}  // namespace feedrate::trainer::cpu
