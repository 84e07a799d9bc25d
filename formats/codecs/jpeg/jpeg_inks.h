#pragma once
// Four inks to RGB, one value at a time, for host and device; jpeg.h has the rule.

namespace feedrate::formats {

/// a · b / 255, rounded to nearest; both 0 … 255.
constexpr unsigned ink_product(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

}  // namespace feedrate::formats
