#include "trainer/ops/pool_window.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "trainer/ops/layout.h"

namespace feedrate::trainer {
namespace {

/// All geometries of small planes, including partial last windows (Caffe's rule).
std::vector<PoolGeometry> geometries() {
  std::vector<PoolGeometry> all;
  for (std::int32_t kernel = 1; kernel <= 4; ++kernel) {
    for (std::int32_t stride = 1; stride <= 4; ++stride) {
      for (std::int32_t pad = 0; pad < kernel; ++pad) {
        for (std::int32_t side = kernel; side <= 9; ++side) {
          const std::int32_t whole = (side + 2 * pad - kernel) / stride + 1;
          for (std::int32_t out = whole; out <= whole + 1; ++out) {
            if ((out - 1) * stride >= side + pad) continue;  // would read only padding
            const std::int32_t width = side + 2;
            all.push_back(
                {side, width, out, (width + 2 * pad - kernel) / stride + 1, kernel, stride, pad});
          }
        }
      }
    }
  }
  return all;
}

std::string name(const PoolGeometry& g) {
  return "side " + std::to_string(g.height) + " out " + std::to_string(g.out_height) + " kernel " +
         std::to_string(g.kernel) + " stride " + std::to_string(g.stride) + " pad " +
         std::to_string(g.pad);
}

TEST(UnitPoolWindow, inputs_and_outputs_are_each_others_inverse) {
  for (const PoolGeometry& g : geometries()) {
    for (std::int32_t out = 0; out < g.out_height; ++out) {
      const PoolRange inputs = pool_inputs(g, out, g.height);
      EXPECT_LT(inputs.begin, inputs.end) << name(g);
      for (std::int32_t in = 0; in < g.height; ++in) {
        const PoolRange outputs = pool_outputs(g, in, g.out_height);
        EXPECT_EQ(in >= inputs.begin && in < inputs.end, out >= outputs.begin && out < outputs.end)
            << name(g) << " in " << in << " out " << out;
      }
    }
  }
}

TEST(UnitPoolWindow, nan_wins_over_all_and_the_first_of_equals_stays) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(wins(2, 1));
  EXPECT_FALSE(wins(1, 1));
  EXPECT_TRUE(wins(nan, std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(wins(nan, nan));
  EXPECT_FALSE(wins(1, nan));
}

TEST(UnitPoolWindow, the_largest_window_has_a_byte_for_every_position) {
  const PoolGeometry g{15, 15, 1, 1, 15, 1, 0};
  EXPECT_EQ(pool_position(g, 0, 0, 14, 14), 224);
}

TEST(UnitLayout, planar_and_interleaved_offsets_name_the_same_value) {
  const std::uint32_t channels = 3;
  const std::uint32_t height = 4;
  const std::uint32_t width = 5;
  for (std::uint32_t c = 0; c < channels; ++c) {
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        EXPECT_EQ(interleaved_offset((c * height + y) * width + x, channels, height * width),
                  (y * width + x) * channels + c);
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::trainer
