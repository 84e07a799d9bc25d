// Batches whose packed JPEGs a device will decode.

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/codecs/packed/packed.h"
#include "loader/pixels/packed_seat.h"
#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/mend_packed.h"
#include "tests/support/sample_images.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

constexpr Shape stored{70, 90, 3};

/// 20 photographs; every fifth is a PNG, the others are packed JPEGs.
class PackedSeats : public ::testing::Test {
 protected:
  PackedSeats() {
    for (std::uint32_t i = 0; i < 20; ++i) {
      const Codec& own = is_packed(i) ? packed_codec : png_codec;
      own.encode(make_image(stored, i), encoded_.emplace_back());
    }
  }

  static bool is_packed(std::uint64_t index) { return index % 5 != 4; }

  std::unique_ptr<MemoryDataset> dataset() const {
    return std::make_unique<MemoryDataset>(
        encoded_.size(), stored, [this](std::uint64_t index, Sample& sample) {
          sample.bytes = encoded_[index];
          sample.codec = is_packed(index) ? &packed_codec : &png_codec;
        });
  }

  static LoaderOptions options(unsigned threads) {
    return {.threads = threads, .batch = 6, .epochs = 2, .pixels = {.type = PixelType::packed}};
  }

  /// What a device and a trainer see of all batches.
  static std::vector<std::string> seen(const Dataset& dataset, const LoaderOptions& options) {
    std::vector<std::string> all;
    Loader loader(dataset, recipe("imagenet-train"), options);
    while (const Batch* batch = loader.next()) {
      EXPECT_EQ(batch->type, PixelType::packed);
      EXPECT_TRUE(batch->pixels.empty());
      EXPECT_EQ(batch->seats.size(), batch->count * batch->seat_bytes);
      for (std::uint32_t i = 0; i < batch->count; ++i) {
        const Bytes seat = Bytes(batch->seats).subspan(i * batch->seat_bytes, batch->seat_bytes);
        const PackedSeat head = head_of_seat(seat);
        EXPECT_EQ(head.holds == SeatHolds::packed, is_packed(batch->indices[i]));
        Hasher hasher;
        hasher.add(std::as_bytes(std::span(&batch->indices[i], 1)));
        hasher.add(std::as_bytes(std::span(&batch->labels[i], 1)));
        const std::int64_t view[] = {head.view.y, head.view.x, head.view.height, head.view.width,
                                     head.view.mirrored ? 1 : 0};
        hasher.add(std::as_bytes(std::span(view)));
        hasher.add(seat.subspan(seat_head_bytes, head.bytes));
        all.push_back(hex(hasher.finish()));
      }
    }
    return all;
  }

  std::vector<Buffer> encoded_;
};

class ConformancePackedSeats : public PackedSeats {};
class UnitPackedSeats : public PackedSeats {};
class HostilePackedSeats : public PackedSeats {};

TEST_F(ConformancePackedSeats, are_the_same_at_any_thread_count) {
  const auto data = dataset();
  const auto reference = seen(*data, options(0));
  EXPECT_EQ(reference.size(), 40U);
  for (const unsigned threads : {1U, 2U, 4U}) EXPECT_EQ(seen(*data, options(threads)), reference);
}

TEST_F(ConformancePackedSeats, pixels_in_seats_are_those_of_a_batch_of_pixels) {
  const auto data = dataset();
  LoaderOptions asked = options(1);
  Loader packed(*data, recipe("imagenet-eval"), asked);
  asked.pixels.type = PixelType::u8;
  Loader pixels(*data, recipe("imagenet-eval"), asked);
  std::size_t compared = 0;
  while (const Batch* batch = packed.next()) {
    const Batch* other = pixels.next();
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(std::ranges::equal(batch->indices, other->indices));
    for (std::uint32_t i = 0; i < batch->count; ++i) {
      if (is_packed(batch->indices[i])) continue;
      const MutableBytes seat = batch->seats.subspan(i * batch->seat_bytes, batch->seat_bytes);
      const Bytes expected =
          std::as_bytes(other->pixels).subspan(i * batch->shape.bytes(), batch->shape.bytes());
      EXPECT_TRUE(std::ranges::equal(pixels_of_seat(seat, batch->shape), expected));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8U);
}

TEST_F(UnitPackedSeats, hold_only_what_a_view_needs) {
  const Shape large{400, 400, 3};
  Buffer encoded;
  packed_codec.encode(make_image(large, 1), encoded);
  const Sample sample{.bytes = encoded, .codec = &packed_codec, .shape = large};
  const Shape image{32, 32, 3};
  Buffer seat(packed_seat_bytes(image, encoded.size() + 100000));
  ASSERT_TRUE(seat_packed(sample, resized_view({0, 0, 400, 400}, 32, 32), image, seat));
  const std::size_t whole = head_of_seat(seat).bytes;
  EXPECT_LT(whole, encoded.size());
  ASSERT_TRUE(seat_packed(sample, crop_view(190, 190, 32, 32), image, seat));
  EXPECT_LT(head_of_seat(seat).bytes, whole / 10);
}

TEST_F(UnitPackedSeats, what_does_not_fit_is_left_to_the_loaders_threads) {
  const Shape image{32, 32, 3};
  Buffer seat(packed_seat_bytes(image, 1));  // at least its pixels fit
  EXPECT_GE(seat.size(), seat_head_bytes + image.bytes());
  const Sample sample{.bytes = encoded_[0], .codec = &packed_codec, .shape = stored};
  EXPECT_FALSE(seat_packed(sample, resized_view({0, 0, 70, 90}, 32, 32), image, seat));
  EXPECT_EQ(head_of_seat(seat).holds, SeatHolds::too_large);
  EXPECT_EQ(head_of_seat(seat).bytes, image.bytes());
}

TEST_F(HostilePackedSeats, a_sum_that_does_not_match_names_the_sample) {
  encoded_[7].back() ^= std::byte{1};
  const auto data = dataset();
  for (const unsigned threads : {0U, 2U}) {
    expect_error([&] { seen(*data, options(threads)); },
                 {"memory", "sample 7", "image-7", "the sum of a run does not match", "byte"});
  }
}

// Sums say that the bytes are those that were written; whether these make sense, they do not.
TEST_F(HostilePackedSeats, damage_under_sums_that_fit_is_reported_as_decoding_on_the_host_does) {
  for (const std::size_t index : {7U, 12U}) {
    encoded_[index][packed_image(encoded_[index]).data_at()] = std::byte{0xff};
    mend_packed_jpeg(encoded_[index]);
  }
  // A byte too many behind the last MCU, which not every view needs.
  Buffer& longer = encoded_[3];
  longer.push_back(std::byte{0});
  const std::size_t data_at = packed_fixed + load_le<std::uint32_t>(longer.data() + 16) +
                              packed_entry * load_le<std::uint32_t>(longer.data() + 20);
  const auto end = static_cast<std::uint32_t>(longer.size() - data_at);
  std::memcpy(longer.data() + data_at - packed_entry, &end, sizeof end);
  mend_packed_jpeg(longer);
  const auto data = dataset();
  struct Told {
    std::vector<std::string> bad;
    std::vector<std::uint64_t> indices;
    bool operator==(const Told&) const = default;
  };
  const auto told = [&](BadPolicy policy, PixelType type, unsigned threads) {
    LoaderOptions asked = options(threads);
    asked.epochs = 8;
    asked.bad.policy = policy;
    asked.pixels.type = type;
    Loader loader(*data, recipe("imagenet-train"), asked);
    Told all;
    while (const Batch* batch = loader.next()) {
      all.indices.insert(all.indices.end(), batch->indices.begin(), batch->indices.end());
    }
    for (const BadSample& bad : loader.bad_samples()) all.bad.push_back(bad.reason);
    return all;
  };
  for (const BadPolicy policy : {BadPolicy::skip, BadPolicy::replace}) {
    const Told expected = told(policy, PixelType::u8, 0);
    EXPECT_EQ(expected.bad.size(), 3U);
    const auto threes = std::ranges::count(expected.indices, 3U);
    EXPECT_GT(threes, 0) << "a view that needs nothing damaged";
    if (policy == BadPolicy::skip) {
      EXPECT_LT(threes, 8) << "and one that needs it";
    }
    for (const unsigned threads : {0U, 3U}) {
      EXPECT_EQ(told(policy, PixelType::packed, threads), expected);
    }
  }
  std::string words;
  try {
    told(BadPolicy::fail, PixelType::u8, 0);
  } catch (const Error& error) {
    words = error.what();
  }
  expect_error([&] { told(BadPolicy::fail, PixelType::packed, 2); },
               {words, "packed JPEG is damaged at byte"});
}

TEST_F(HostilePackedSeats, operations_on_pixels_are_refused) {
  const auto data = dataset();
  for (const char* part : {"color-jitter", "mixup"}) {
    const Recipe& composed = recipe(join("imagenet-train+", part));
    expect_error([&] { Loader(*data, composed, options(1)); }, {part, "need pixels", "packed"});
  }
}

TEST_F(HostilePackedSeats, bad_samples_are_skipped_or_replaced) {
  encoded_[7].resize(30);
  const auto data = dataset();
  LoaderOptions asked = options(2);
  asked.epochs = 1;
  asked.bad.policy = BadPolicy::skip;
  EXPECT_EQ(seen(*data, asked).size(), 19U);
  asked.bad.policy = BadPolicy::replace;
  EXPECT_EQ(seen(*data, asked).size(), 20U);
}

}  // namespace
}  // namespace feedrate::loader
