#include "trainer/ops/pool_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "loader/order/random.h"
#include "trainer/ops/layout.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

std::vector<float> random_values(std::int32_t count, std::uint64_t key) {
  std::vector<float> values;
  for (std::int32_t i = 0; i < count; ++i) {
    // Few distinct values, so that windows often contain equal ones.
    values.push_back(static_cast<float>(below(random_bits(key, static_cast<std::uint64_t>(i)), 9)) -
                     4.0F);
  }
  return values;
}

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

TEST(UnitPoolWindow, gathering_gradients_equals_scattering_them) {
  for (const PoolGeometry& g : geometries()) {
    const std::vector<float> plane = random_values(g.height * g.width, 1);
    const std::vector<float> gradients = random_values(g.out_height * g.out_width, 2);
    std::vector<float> scattered(plane.size());
    std::vector<std::uint8_t> winners;
    for (std::int32_t row = 0; row < g.out_height; ++row) {
      for (std::int32_t column = 0; column < g.out_width; ++column) {
        // The definition, position by position, with padding as minus infinity.
        float best = -std::numeric_limits<float>::infinity();
        std::int32_t at = -1;
        for (std::int32_t k = 0; k < g.kernel * g.kernel; ++k) {
          const std::int32_t y = row * g.stride - g.pad + k / g.kernel;
          const std::int32_t x = column * g.stride - g.pad + k % g.kernel;
          if (y < 0 || y >= g.height || x < 0 || x >= g.width) continue;
          if (at < 0 || plane[static_cast<std::size_t>(y * g.width + x)] > best) {
            at = y * g.width + x;
            best = plane[static_cast<std::size_t>(at)];
          }
        }
        const PoolWinner winner = pool_winner(g, plane.data(), row, column);
        EXPECT_EQ(winner.value, best) << name(g);
        winners.push_back(winner.position);
        scattered[static_cast<std::size_t>(at)] +=
            gradients[static_cast<std::size_t>(row * g.out_width + column)];
      }
    }
    for (std::int32_t y = 0; y < g.height; ++y) {
      for (std::int32_t x = 0; x < g.width; ++x) {
        EXPECT_EQ(pool_gradient(g, gradients.data(), winners.data(), y, x),
                  scattered[static_cast<std::size_t>(y * g.width + x)])
            << name(g) << " at " << y << ", " << x;
      }
    }
  }
}

TEST(UnitPoolWindow, nan_wins_wherever_it_stands) {
  const PoolGeometry g{2, 2, 1, 1, 2, 2, 0};
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<float> plane{1, 2, 3, 4};
    plane[at] = std::numeric_limits<float>::quiet_NaN();
    const PoolWinner winner = pool_winner(g, plane.data(), 0, 0);
    EXPECT_NE(winner.value, winner.value);
    EXPECT_EQ(winner.position, at);
  }
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
