#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "formats/codec.h"
#include "tests/support/sample_images.h"

namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

// Counts every `new` of the test program in each thread. Not inlined, since the compiler would
// otherwise report malloc's memory in operator delete as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace feedrate::formats {
namespace {

TEST(UnitCodecAllocations, codecs_allocate_nothing_for_images_no_larger_than_before) {
  std::vector<Image> images;
  for (const Shape shape : {Shape{64, 80, 3}, {28, 28, 1}, {32, 32, 3}, {64, 79, 3}}) {
    images.push_back(testing::make_image(shape, 3));                    // like photographs
    images.push_back({shape, Buffer(shape.bytes(), std::byte{0x55})});  // like drawings
  }
  Buffer encoded, pixels;
  for (const Codec* codec : codecs()) {
    if (!codec->encodes()) continue;
    const auto run = [&] {
      for (const Image& image : images) {
        codec->encode(image, encoded);
        pixels.resize(image.shape.bytes());
        codec->decode(encoded, image.shape, pixels);
      }
    };
    run();
    const std::uint64_t before = allocations;
    run();
    EXPECT_EQ(allocations, before) << codec->name();
  }
}

}  // namespace
}  // namespace feedrate::formats
