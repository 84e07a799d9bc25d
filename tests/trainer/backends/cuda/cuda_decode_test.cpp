// Packed JPEGs decoded on the device, beside the loader's threads: the same pixels, bit for bit.

#include <random>

#include "formats/codecs/packed/packed.h"
#include "formats/codecs/packed/packed_blocks.h"
#include "loader/pixels/packed_seat.h"
#include "loader/pixels/render.h"
#include "tests/formats/jpeg_images.h"
#include "tests/support/mend_packed.h"
#include "tests/support/sample_images.h"
#include "tests/trainer/cuda_parity.h"
#include "trainer/backends/image_decoder.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

struct Case {
  std::string what;
  Buffer bytes;  // of the sample
  const Codec* codec = &packed_codec;
  View view;
};

Buffer packed(Bytes jpeg) {
  Buffer record;
  pack_jpeg(jpeg, record);
  return record;
}

// What the loader's threads make of a view.
Buffer rendered(const Case& one, Shape stored, Shape image) {
  Buffer pixels(image.bytes()), memory;
  const Sample sample{.bytes = one.bytes, .codec = one.codec, .shape = stored};
  const Rect part = needed_part(one.view, stored);
  PixelRows rows;
  if (part.height > 0 && part.width > 0) rows = decode_part(sample, part, memory);
  Renderer().render(one.view, stored, rows, image.channels, pixels);
  return pixels;
}

// Seats as the loader fills them.
class Seats {
 public:
  Seats(Shape image, std::size_t count, std::size_t packed_bytes = 0)
      : image_(image),
        seat_bytes_(packed_seat_bytes(image, packed_bytes)),
        memory_(seat_bytes_ * count, std::byte{0x5a}),
        labels_(count) {
    for (std::uint64_t i = 0; i < count; ++i) indices_.push_back(100 + i);
  }

  // Returns whether the seat holds packed bytes.
  bool fill(std::size_t number, const Case& one) {
    const Shape stored = one.codec->shape(one.bytes);
    const Sample sample{.bytes = one.bytes, .codec = one.codec, .shape = stored};
    check_view(one.view, stored);
    if (seat_packed(sample, one.view, image_, bytes(number))) return true;
    std::ranges::copy(rendered(one, stored, image_), pixels_of_seat(bytes(number), image_).begin());
    return false;
  }

  // The data of the runs in a seat.
  MutableBytes data(std::size_t number) {
    const std::uint32_t runs = head_of_seat(bytes(number)).image.runs();
    return bytes(number).subspan(seat_head_bytes + 4 * (runs + std::size_t{1}));
  }

  Batch batch() {
    Batch batch{.number = 3,
                .count = static_cast<std::uint32_t>(labels_.size()),
                .shape = image_,
                .pixels = {},
                .labels = labels_,
                .indices = indices_,
                .type = PixelType::packed,
                .seat_bytes = seat_bytes_};
    batch.set_bytes(memory_.data());
    return batch;
  }

 private:
  MutableBytes bytes(std::size_t number) {
    return MutableBytes(memory_).subspan(number * seat_bytes_, seat_bytes_);
  }

  Shape image_;
  std::size_t seat_bytes_;
  Buffer memory_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint64_t> indices_;
};

class CudaDecode : public CudaParity {
 protected:
  std::unique_ptr<ImageDecoder> decoder_of(const Batch& batch) const {
    return cuda_->image_decoder({batch.shape, batch.count, batch.seat_bytes});
  }

  // Decodes all cases in one batch.
  void expect_parity(const std::vector<Case>& cases, Shape image) const {
    Seats seats(image, cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_TRUE(seats.fill(i, cases[i])) << cases[i].what << " was not left packed";
    }
    const Batch batch = seats.batch();
    const auto decoder = decoder_of(batch);
    decoder->decode(batch);
    const auto pixels = decoder->pixels();
    ASSERT_EQ(pixels.size(), cases.size() * image.bytes());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& one = cases[i];
      const auto found = pixels.subspan(i * image.bytes(), image.bytes());
      const Buffer expected = rendered(one, one.codec->shape(one.bytes), image);
      const auto [a, b] = std::ranges::mismatch(found, expected);
      if (a == found.end()) continue;
      ADD_FAILURE() << one.what << ": byte " << a - found.begin() << " is "
                    << std::to_integer<int>(*a) << ", not " << std::to_integer<int>(*b);
    }
    EXPECT_EQ(decoder->counts().images, cases.size());
    EXPECT_EQ(decoder->counts().packed, cases.size());
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaDecode, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaDecode, ::testing::Values(Device::emulated),
                         device_label);

struct Kind {
  std::string what;
  JpegKind jpeg;
};

std::vector<Kind> kinds() {
  return {{"4:4:4", {.across = 1, .down = 1}},
          {"4:2:2", {.across = 2, .down = 1}},
          {"4:2:0", {.across = 2, .down = 2}},
          {"4:4:0", {.across = 1, .down = 2}},
          {"4:1:1", {.across = 4, .down = 1}},
          {"4:1:0", {.across = 4, .down = 2}},
          {"three across", {.across = 3, .down = 1}},
          {"1 x 4", {.across = 1, .down = 4}},
          {"progressive", {.quality = 40, .across = 2, .down = 2, .progressive = true}},
          {"restarts", {.across = 2, .down = 1, .restart = 3}},
          {"coarse", {.quality = 3}},
          {"fine", {.quality = 100}},
          {"Adobe's marker", {.adobe = true}},
          {"RGB", {.stored = JCS_RGB, .across = 1, .down = 1}}};
}

Buffer packed_photo(Shape shape, std::uint32_t number, const JpegKind& kind) {
  return packed(jpeg_of(make_image(shape, number), kind));
}

// Whole images, crops within and beyond the edges, and resized ones, some of each mirrored.
std::vector<View> views_of(Shape stored, Shape image) {
  std::vector<View> views;
  const auto add = [&](View view) {
    view.window = {(view.scaled_height - image.height) / 2, (view.scaled_width - image.width) / 2,
                   image.height, image.width};
    view.mirrored = views.size() % 2 != 0;
    views.push_back(view);
  };
  const auto height = static_cast<std::int32_t>(stored.height);
  const auto width = static_cast<std::int32_t>(stored.width);
  add(crop_view(0, 0, image.height, image.width));
  add(crop_view(height - static_cast<std::int32_t>(image.height),
                width - static_cast<std::int32_t>(image.width), image.height, image.width));
  add(crop_view(-5, -3, image.height, image.width));
  add(crop_view(height - 7, width - 9, image.height, image.width));
  add(resized_view({0, 0, stored.height, stored.width}, image.height, image.width));
  add(resized_view({0, 0, stored.height, stored.width}, image.height, image.width));
  add(resized_view({3, 5, 13, 18}, image.height, image.width));
  add(resized_view({stored.height - 15, 1, 15, image.width}, image.height, image.width));
  add(resized_view({0, 0, stored.height, stored.width}, image.height + 9, image.width + 20));
  return views;
}

TEST_P(CudaDecode, every_sampling_and_view_gives_the_loaders_pixels) {
  const Shape image{22, 27, 3};
  std::uint32_t number = 0;
  for (const Kind& kind : kinds()) {
    std::vector<Case> cases;
    // The second has two runs of MCUs a row, the first one.
    for (const Shape stored : {Shape{45, 53, 3}, Shape{25, 139, 3}}) {
      const Buffer bytes = packed_photo(stored, ++number, kind.jpeg);
      for (const View& view : views_of(stored, image)) {
        cases.push_back({join(kind.what, ", view ", cases.size()), bytes, &packed_codec, view});
      }
    }
    if (number % 3 == 0) setenv("FEEDRATE_EMULATED_REVERSE", "1", 1);
    expect_parity(cases, image);
    unsetenv("FEEDRATE_EMULATED_REVERSE");
  }
}

TEST_P(CudaDecode, images_of_a_few_pixels_are_exact) {
  for (const Kind& kind : kinds()) {
    std::vector<Case> cases;
    for (const Shape stored : {Shape{1, 1, 3},
                               {1, 2, 3},
                               {2, 1, 3},
                               {3, 5, 3},
                               {5, 3, 3},
                               {8, 9, 3},
                               {16, 17, 3},
                               {17, 16, 3},
                               {2, 70, 3},
                               {70, 2, 3}}) {
      cases.push_back({join(kind.what, ", ", stored.height, "x", stored.width),
                       packed_photo(stored, stored.width, kind.jpeg), &packed_codec,
                       resized_view({0, 0, stored.height, stored.width}, 10, 11)});
      View beyond = crop_view(-1, -2, 10, 11);
      beyond.mirrored = stored.width % 2 != 0;
      cases.push_back(cases.back());
      cases.back().view = beyond;
    }
    expect_parity(cases, {10, 11, 3});
  }
}

TEST_P(CudaDecode, grey_images_and_inks_are_exact) {
  const Shape stored{37, 45, 1};
  const Buffer grey = packed(jpeg_of(make_image(stored, 4)));
  std::vector<Case> cases;
  for (const View& view : views_of(stored, {24, 31, 1})) {
    cases.push_back({"grey", grey, &packed_codec, view});
  }
  expect_parity(cases, {24, 31, 1});
  const Buffer inks = make_image({37, 45 * 4, 1}, 5).pixels;
  for (const J_COLOR_SPACE space : {JCS_CMYK, JCS_YCCK}) {
    for (const int across : {1, 2}) {
      const Buffer jpeg = make_jpeg(
          {.from = JCS_CMYK, .stored = space, .across = across, .down = across}, 45, 37, inks);
      for (const View& view : views_of(stored, {24, 31, 3})) {
        cases.push_back({join("four inks, ", across), packed(jpeg), &packed_codec, view});
      }
    }
  }
  // Adobe's marker does not matter to inks.
  Buffer plain = make_jpeg({.from = JCS_CMYK, .stored = JCS_CMYK}, 45, 37, inks);
  const auto adobe = static_cast<std::ptrdiff_t>(behind_marker(plain, 0xee));
  plain.erase(plain.begin() + adobe - 2, plain.begin() + adobe + 14);
  cases.push_back({"inks", packed(plain), &packed_codec, crop_view(2, 3, 24, 31)});
  expect_parity(cases, {24, 31, 3});
}

// No encoder writes such coefficients, but files may hold them: the pixels must be the same.
TEST_P(CudaDecode, coefficients_beyond_any_encoders_are_exact) {
  const Shape stored{16, 24, 3};
  std::minstd_rand random(7);
  std::vector<Case> cases;
  for (int number = 0; number < 40; ++number) {
    JpegKind kind{.quality = number % 4 == 0 ? 1 : 60, .across = 1, .down = 1};
    Buffer record = packed_photo(stored, 9, kind);
    const PackedImage parts = packed_image(record);
    Buffer data;
    std::vector<std::uint32_t> ends;
    for (std::size_t run = 0; run < parts.runs(); ++run) {
      for (int block = 0; block < 9; ++block) {
        std::int16_t coefficients[64] = {};
        const unsigned limit = number % 3 == 0 ? 65536 : number % 3 == 1 ? 4096 : 600;
        const auto any = [&] {
          return static_cast<std::int16_t>(static_cast<int>(random() % limit) -
                                           static_cast<int>(limit / 2));
        };
        coefficients[0] = any();
        // Some blocks have a first row alone.
        for (int i = 1; i < (block % 3 == 0 ? 8 : 64); ++i) {
          if (random() % 4 == 0) coefficients[i] = any();
        }
        pack_block(coefficients, data);
      }
      ends.push_back(static_cast<std::uint32_t>(data.size()));
    }
    std::byte* index = record.data() + packed_fixed + parts.head.size();
    for (std::size_t run = 0; run < ends.size(); ++run) {
      std::memcpy(index + run * packed_entry, &ends[run], sizeof ends[run]);
    }
    record.resize(parts.data_at());
    append(record, data);
    mend_packed_jpeg(record);
    cases.push_back({join("coefficients ", number), record, &packed_codec,
                     crop_view(0, 0, stored.height, stored.width)});
  }
  expect_parity(cases, stored);
}

TEST_P(CudaDecode, what_the_loader_decoded_lies_beside_what_the_device_decodes) {
  const Shape stored{40, 44, 3}, image{20, 24, 3};
  const Buffer jpeg = jpeg_of(make_image(stored, 1));
  Buffer png;
  png_codec.encode(make_image(stored, 2), png);
  const View view = resized_view({1, 2, 30, 33}, image.height, image.width);
  std::vector<Case> cases{
      {"packed", packed(jpeg), &packed_codec, view},
      {"jpeg", jpeg, &jpeg_codec, view},
      {"png", png, &png_codec, view},
      {"all black", packed(jpeg), &packed_codec, crop_view(90, 0, 20, 24)},
      {"grey", packed(jpeg_of(make_image({40, 44, 1}, 3))), &packed_codec, view},
      {"large", packed_photo({300, 300, 3}, 4, {.quality = 100}), &packed_codec,
       resized_view({0, 0, 300, 300}, image.height, image.width)}};
  Seats seats(image, cases.size(), std::size_t{20} << 10);
  const bool packed_seats[] = {true, false, false, false, true, false};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(seats.fill(i, cases[i]), packed_seats[i]) << cases[i].what;
  }
  const Batch batch = seats.batch();
  const auto decoder = decoder_of(batch);
  for (int times = 1; times <= 3; ++times) {  // both sides, and one again
    decoder->decode(batch);
    const auto pixels = decoder->pixels();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& one = cases[i];
      EXPECT_TRUE(std::ranges::equal(pixels.subspan(i * image.bytes(), image.bytes()),
                                     rendered(one, one.codec->shape(one.bytes), image)))
          << one.what;
    }
    EXPECT_EQ(decoder->counts().images, cases.size() * static_cast<std::size_t>(times));
    EXPECT_EQ(decoder->counts().packed, 2U * static_cast<unsigned>(times));
    EXPECT_EQ(decoder->counts().too_large, 1U * static_cast<unsigned>(times));
  }
}

TEST_P(CudaDecode, damage_is_found_before_the_device_and_what_comes_later_on_it) {
  const Shape stored{16, 16, 3};
  const Case one{"packed", packed_photo(stored, 1, {}), &packed_codec, whole_view(stored)};
  Seats seats(stored, 3);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(seats.fill(i, one));
  for (const int head : {0xff, 0x7f, 0x3f, 0x0f}) {
    Case damaged = one;
    damaged.bytes[packed_image(one.bytes).data_at()] = std::byte(head);
    mend_packed_jpeg(damaged.bytes);
    expect_error([&] { seats.fill(1, damaged); }, {"packed JPEG is damaged at byte"});
    // What changes in memory, behind the loader's back.
    ASSERT_TRUE(seats.fill(1, one));
    seats.data(1).front() = std::byte(head);
    const Batch batch = seats.batch();
    const auto decoder = decoder_of(batch);
    decoder->decode(batch);
    expect_error([&] { decoder->pixels(); }, {"sample 101", "damaged", "block"});
    for (int times = 0; times < 2; ++times) decoder->decode(batch);
    expect_error([&] { decoder->decode(batch); }, {"sample 101"});
  }
}

TEST_P(CudaDecode, any_damage_is_an_error_or_the_loaders_pixels) {
  const Shape stored{17, 40, 3};
  const Case sound{"packed", packed_photo(stored, 1, {.quality = 60}), &packed_codec,
                   whole_view(stored)};
  const std::size_t data_at = packed_image(sound.bytes).data_at();
  std::minstd_rand random(3);
  int errors = 0, images = 0;
  for (int times = 0; times < 150; ++times) {
    Seats seats(stored, 1);
    ASSERT_TRUE(seats.fill(0, sound));
    Case one = sound;
    const std::size_t at = random() % (one.bytes.size() - data_at);
    const auto flip = static_cast<std::byte>(1U << random() % 8);
    one.bytes[data_at + at] ^= flip;
    seats.data(0)[at] ^= flip;
    mend_packed_jpeg(one.bytes);
    const Batch batch = seats.batch();
    const auto decoder = decoder_of(batch);
    decoder->decode(batch);
    std::optional<Buffer> expected;
    try {
      expected = rendered(one, stored, stored);
    } catch (const Error&) {
    }
    if (expected) {
      EXPECT_TRUE(std::ranges::equal(decoder->pixels(), *expected)) << "byte " << at;
      EXPECT_TRUE(seats.fill(0, one));
    } else {
      EXPECT_THROW(decoder->pixels(), Error) << "byte " << at;
      EXPECT_THROW(seats.fill(0, one), Error) << "byte " << at;
    }
    ++(expected ? images : errors);
  }
  EXPECT_GT(errors, 20);
  EXPECT_GT(images, 20);
}

TEST_P(CudaDecode, a_batch_of_another_size_is_refused) {
  const Shape stored{16, 16, 3};
  Seats seats(stored, 3);
  const Batch batch = seats.batch();
  const auto refused = [&](const DecoderSize& size) {
    const auto decoder = cuda_->image_decoder(size);
    expect_error([&] { decoder->decode(batch); }, {"batch 3", "3 images of packed", "16x16x3"});
  };
  refused({stored, 2, batch.seat_bytes});
  refused({stored, 3, batch.seat_bytes + 64});
  refused({{16, 17, 3}, 3, batch.seat_bytes});
}

}  // namespace
}  // namespace feedrate::testing
