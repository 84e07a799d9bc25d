// Batches of numbers hold the same images as batches of pixels.

#include <gtest/gtest.h>

#include <cstring>

#include "loader/pixels/half.h"
#include "tests/loader/batches.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

const PixelScales scales{{{0.25F, 17.5F}, {0.017F, 3}, {1.0F / 58, 115}, {}}};

// Grey among colour images, in several sizes: every path from a sample to a seat.
void mixed(std::uint64_t index, Sample& sample) {
  const auto step = static_cast<std::uint32_t>(index % 7);
  sample.shape = {300 - 20 * step, 180 + 20 * step, index % 5 == 0 ? 1U : 3U};
  sample.bytes = sample.bytes.first(sample.shape.bytes());
}

void expect_numbers_of(const Batch& pixels, const Batch& numbers, std::string_view recipe) {
  ASSERT_EQ(numbers.count, pixels.count);
  ASSERT_EQ(numbers.shape, pixels.shape);
  ASSERT_TRUE(std::ranges::equal(numbers.labels, pixels.labels));
  EXPECT_EQ(numbers.pixels.empty(), numbers.type != PixelType::u8);
  EXPECT_EQ(numbers.scales, scales);
  EXPECT_EQ(numbers.bytes().size(), pixels.pixels.size() * bytes_of(numbers.type));
  const std::size_t channels = pixels.shape.channels;
  const std::size_t plane = std::size_t{pixels.shape.height} * pixels.shape.width;
  for (std::size_t at = 0; at < pixels.pixels.size(); ++at) {
    const std::size_t image = at / (plane * channels), c = at % channels;
    const std::size_t to = numbers.layout == PixelLayout::planar
                               ? (image * channels + c) * plane + at % (plane * channels) / channels
                               : at;
    const float value = scaled_pixel(pixels.pixels[at], scales[c].scale, scales[c].mean);
    if (numbers.type == PixelType::u8) {
      ASSERT_EQ(numbers.pixels[to], pixels.pixels[at]) << recipe << ", value " << at;
    } else if (numbers.type == PixelType::f32) {
      ASSERT_EQ(numbers.floats[to], value) << recipe << ", value " << at;
    } else {
      ASSERT_EQ(numbers.halves[to], half_bits(value)) << recipe << ", value " << at;
    }
  }
}

TEST(ConformanceValues, batches_in_every_layout_hold_the_images_of_batches_of_pixels) {
  const MemoryDataset grey(60), colour(60, {32, 32, 3});
  const MemoryDataset photographs(21, {300, 300, 3}, mixed);
  for (const Recipe* row : recipes()) {
    const bool takes_grey_only = row->name() == "mnist";
    const bool scaled = !takes_grey_only && row->shape({300, 300, 3}).width != 300;
    const Dataset& dataset = takes_grey_only ? grey : scaled ? photographs : colour;
    for (const auto& [type, layout] : {std::pair{PixelType::f32, PixelLayout::planar},
                                       {PixelType::f16, PixelLayout::planar},
                                       {PixelType::f32, PixelLayout::interleaved},
                                       {PixelType::u8, PixelLayout::planar}}) {
      LoaderOptions options{.threads = 2, .batch = 8, .epochs = 2};
      Loader pixels(dataset, *row, options);
      options.pixels = {.type = type, .scales = scales};
      if (layout != usual_layout(type)) options.pixels.layout = layout;
      Loader numbers(dataset, *row, options);
      while (const Batch* batch = pixels.next()) {
        const Batch* made = numbers.next();
        ASSERT_NE(made, nullptr);
        ASSERT_EQ(std::pair(made->type, made->layout), std::pair(type, layout));
        expect_numbers_of(*batch, *made, row->name());
        if (HasFatalFailure()) return;
      }
      EXPECT_EQ(numbers.next(), nullptr);
    }
  }
}

// Caffe's planar BGR samples, which decoding turns into RGB pixels.
TEST(ConformanceValues, numbers_of_planar_samples_are_those_of_their_pixels) {
  const MemoryDataset planar(20, {32, 32, 3}, [](std::uint64_t, Sample& sample) {
    sample.order = PixelOrder::planar_bgr;
  });
  Loader pixels(planar, recipe("none"), {.threads = 1, .batch = 20});
  Loader numbers(planar, recipe("none"),
                 {.threads = 1, .batch = 20, .pixels = {.type = PixelType::f32, .scales = scales}});
  expect_numbers_of(*pixels.next(), *numbers.next(), "none");
}

TEST(ConformanceValues, ranks_resumes_and_replays_of_numbers_are_those_of_pixels) {
  const MemoryDataset dataset(100);
  LoaderOptions options{
      .threads = 2, .batch = 16, .pixels = {.type = PixelType::f32, .scales = scales}};
  Loader whole(dataset, recipe("none"), options);
  const Batch* first = whole.next();
  Buffer all(first->bytes().begin(), first->bytes().end());
  options.share.ranks = 2;
  options.batch = 8;
  Buffer joint;
  for (const std::uint32_t rank : {0U, 1U}) {
    options.share.rank = rank;
    Loader part(dataset, recipe("none"), options);
    const Batch* batch = part.next();
    joint.insert(joint.end(), batch->bytes().begin(), batch->bytes().end());
  }
  EXPECT_EQ(joint, all);

  options = {.threads = 0, .batch = 4, .pixels = {.type = PixelType::f32, .scales = scales}};
  options.start.position = 8;
  Loader resumed(dataset, recipe("none"), options);
  const Batch* later = resumed.next();
  EXPECT_TRUE(std::ranges::equal(later->bytes(), std::span(all).subspan(8 * 784 * 4, 4 * 784 * 4)));

  Replay replay(whole, 1, 3);
  Loader again(dataset, recipe("none"),
               {.threads = 1, .batch = 16, .pixels = {.type = PixelType::f32, .scales = scales}});
  again.next();
  const Batch* second = again.next();
  for (int i = 0; i < 3; ++i) {
    const Batch* given = replay.next();
    ASSERT_EQ(given->type, PixelType::f32);
    EXPECT_EQ(given->scales, scales);
    EXPECT_TRUE(std::ranges::equal(given->floats, second->floats));
    EXPECT_TRUE(std::ranges::equal(given->labels, second->labels));
  }
}

// Replacing and removing bad samples handle seats of the right size.
TEST(ConformanceValues, bad_samples_leave_the_same_numbers_at_any_number_of_threads) {
  const auto third_is_bad = [](std::uint64_t index, Sample&) {
    if (index % 3 == 0) throw Error("does not decode");
  };
  const MemoryDataset dataset(90, {8, 8, 3}, third_is_bad);
  for (const BadPolicy policy : {BadPolicy::replace, BadPolicy::skip}) {
    LoaderOptions options{
        .threads = 1, .batch = 7, .pixels = {.scales = scales}, .bad = {.policy = policy}};
    Loader pixels(dataset, recipe("none"), options);
    options.pixels.type = PixelType::f16;
    Loader numbers(dataset, recipe("none"), options);
    while (const Batch* batch = pixels.next()) {
      expect_numbers_of(*batch, *numbers.next(), "none");
      if (HasFatalFailure()) return;
    }
    options.threads = 0;
    const auto reference = digests(dataset, recipe("none"), options);
    for (const unsigned threads : {1U, 4U}) {
      options.threads = threads;
      EXPECT_EQ(digests(dataset, recipe("none"), options), reference) << threads << " threads";
    }
  }
}

class CountedMemory final : public PixelMemory {
 public:
  std::byte* allocate(std::size_t bytes) override {
    allocated += bytes;
    return plain_memory().allocate(bytes);
  }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    plain_memory().release(memory, bytes);
  }
  std::size_t allocated = 0;
};

TEST(UnitValues, slots_are_exactly_as_large_as_their_numbers) {
  const MemoryDataset dataset(100, {32, 32, 3});
  for (const PixelType type : pixel_types) {
    CountedMemory memory;
    const Loader loader(dataset, recipe("none"),
                        {.threads = 1,
                         .batch = 64,
                         .pixels = {.type = type},
                         .engine = {.depth = 4, .memory = &memory}});
    EXPECT_EQ(memory.allocated,
              4 * 64 * (3072 * bytes_of(type) + sizeof(std::int32_t) + sizeof(std::uint64_t)));
  }
}

}  // namespace
}  // namespace feedrate::loader
