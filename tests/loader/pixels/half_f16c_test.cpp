#include <gtest/gtest.h>
#include <immintrin.h>

#include <bit>
#include <random>

#include "formats/base/processor.h"
#include "loader/pixels/half.h"

namespace feedrate::loader {
using namespace formats;

namespace {

__attribute__((target("avx2,f16c"))) std::uint16_t processors_half(float value) {
  return static_cast<std::uint16_t>(
      _mm_extract_epi16(_mm_cvtps_ph(_mm_set1_ps(value), _MM_FROUND_TO_NEAREST_INT), 0));
}

TEST(UnitHalf, rounds_as_the_processor_does) {
  if (!processor_has({Instructions::f16c})) GTEST_SKIP() << "this CPU has no F16C";
  std::mt19937 random(1);
  for (int i = 0; i < 3'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    ASSERT_EQ(half_bits(value), processors_half(value)) << value;
  }
}

}  // namespace
}  // namespace feedrate::loader
