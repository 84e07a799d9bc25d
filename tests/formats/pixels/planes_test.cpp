#include "formats/pixels/planes.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/fenced_bytes.h"

namespace feedrate::formats {
namespace {

using testing::Fence;
using testing::FencedBytes;

TEST(UnitPlanes, vector_and_plain_interleaving_give_the_same_bytes_and_touch_no_others) {
  std::mt19937 random(1);
  const auto all = runnable_plane_interleavers();
  for (std::size_t count = 0; count < 300; ++count) {
    const Fence fence = count % 2 == 0 ? Fence::before : Fence::behind;
    const FencedBytes red(count, fence), green(count, fence), blue(count, fence);
    for (const FencedBytes* plane : {&red, &green, &blue}) {
      for (std::byte& byte : plane->bytes()) byte = static_cast<std::byte>(random());
    }
    const FencedBytes plain(3 * count, fence), fast(3 * count, fence);
    all.back()(red.data(), green.data(), blue.data(), count, plain.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(plain.data()[3 * i], red.data()[i]);
      ASSERT_EQ(plain.data()[3 * i + 1], green.data()[i]);
      ASSERT_EQ(plain.data()[3 * i + 2], blue.data()[i]);
    }
    for (const InterleavePlanes interleave : all) {
      std::fill(fast.bytes().begin(), fast.bytes().end(), std::byte{99});
      interleave(red.data(), green.data(), blue.data(), count, fast.data());
      ASSERT_TRUE(std::equal(fast.bytes().begin(), fast.bytes().end(), plain.data())) << count;
    }
  }
}

TEST(UnitPlanes, what_was_separated_becomes_the_same_pixels_again) {
  std::mt19937 random(1);
  for (std::size_t count = 0; count < 120; ++count) {
    const Fence fence = count % 2 == 0 ? Fence::before : Fence::behind;
    const FencedBytes pixels(3 * count, fence), again(3 * count, fence);
    for (std::byte& byte : pixels.bytes()) byte = static_cast<std::byte>(random());
    for (const SeparatePlanes separate : runnable_plane_separators()) {
      const FencedBytes red(count, fence), green(count, fence), blue(count, fence);
      separate(pixels.data(), count, red.data(), green.data(), blue.data());
      runnable_plane_interleavers().back()(red.data(), green.data(), blue.data(), count,
                                           again.data());
      ASSERT_TRUE(std::equal(again.bytes().begin(), again.bytes().end(), pixels.data())) << count;
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
