#include <algorithm>
#include <random>

#include "formats/codecs/packed/packed.h"
#include "formats/codecs/packed/packed_image.h"
#include "tests/formats/jpeg_images.h"
#include "tests/support/expect_error.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/mend_packed.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

const Shape shape{21, 75, 3};

Buffer record_of(const JpegKind& kind = {}) {
  Buffer record;
  pack_jpeg(jpeg_of(make_image(shape, 1), kind), record);
  return record;
}

void decode_all(Bytes record) {
  const Shape stated = packed_codec.shape(record);
  Buffer pixels(std::min<std::size_t>(stated.bytes(), std::size_t{1} << 22));
  if (pixels.size() == stated.bytes()) packed_codec.decode(record, stated, pixels);
}

TEST(HostilePacked, every_truncation_is_an_error_that_names_the_byte) {
  const Buffer record = record_of();
  decode_all(record);
  for (std::size_t size = 0; size < record.size(); ++size) {
    expect_error([&] { decode_all(Bytes(record).first(size)); },
                 {size < 8 ? "not a packed JPEG" : "byte"});
  }
  Buffer longer = record;
  longer.push_back(std::byte{0});
  expect_error([&] { decode_all(longer); }, {"expected", "bytes, found"});
}

TEST(HostilePacked, every_flipped_bit_is_an_error_that_names_the_byte) {
  Buffer record = record_of();
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    const std::byte flip = std::byte(1U << bit % 8);
    record[bit / 8] ^= flip;
    expect_error([&] { decode_all(record); }, {bit < 64 ? "not a packed JPEG" : "byte"});
    record[bit / 8] ^= flip;
  }
  decode_all(record);
}

// Changes a copy of a packed JPEG and corrects its sums.
template <class Change>
Buffer mended(Buffer record, const Change& change) {
  change(record);
  mend_packed_jpeg(record);
  return record;
}

void set_u32(Buffer& record, std::size_t at, std::uint32_t value) {
  std::memcpy(record.data() + at, &value, sizeof value);
}

TEST(HostilePacked, a_frame_that_contradicts_itself_is_refused) {
  const Buffer record = record_of();
  const PackedImage parts = packed_image(record);
  const std::size_t index = packed_fixed + parts.head.size();
  const auto expect = [&](const auto& change, std::initializer_list<std::string_view> words) {
    const Buffer changed = mended(record, change);
    expect_error([&] { decode_all(changed); }, words);
  };
  expect([](Buffer& r) { set_u32(r, 16, 0xffffffff); }, {"byte 24", "truncated"});
  expect([](Buffer& r) { set_u32(r, 20, 0xffffffff); }, {"byte 24", "runs"});
  expect([](Buffer& r) { set_u32(r, 20, 0); }, {"byte 24", "0 runs"});
  expect([&](Buffer& r) { set_u32(r, index, 0xffffff); }, {"a run of MCUs outside the data"});
  // Moves one byte of the first run to the second, and the other way round.
  const auto end = load_le<std::uint32_t>(record.data() + index);
  expect([&](Buffer& r) { set_u32(r, index, end - 1); }, {"byte", "ends too early"});
  expect([&](Buffer& r) { set_u32(r, index, end + 1); }, {"byte", "bytes behind its last"});
  // A block with an impossible head.
  expect([&](Buffer& r) { r[parts.data_at()] = std::byte{0x0f}; }, {"byte", "head"});
}

TEST(HostilePacked, a_head_that_states_another_image_than_the_index_is_refused) {
  const Buffer record = record_of();
  const std::size_t frame = behind_marker(record, 0xc0);
  const auto stating = [&](unsigned at, unsigned value) {
    return mended(record, [&](Buffer& r) { r[frame + at] = static_cast<std::byte>(value); });
  };
  expect_error([&] { decode_all(stating(4, 60)); }, {"runs"});        // higher
  expect_error([&] { decode_all(stating(6, 200)); }, {"runs"});       // wider
  expect_error([&] { decode_all(stating(8 + 1, 0x11)); }, {"runs"});  // sampled otherwise
  expect_error([&] { decode_all(stating(3, 0xf0)); }, {"cannot hold"});
  const auto coded = [&](unsigned sof) {
    return mended(record, [&](Buffer& r) { r[frame - 1] = static_cast<std::byte>(sof); });
  };
  expect_error([&] { decode_all(coded(0xc2)); }, {"baseline"});
  expect_error([&] { decode_all(coded(0xc9)); }, {"baseline"});
}

TEST(HostilePacked, a_head_with_the_start_of_several_scans_is_refused) {
  const Buffer record = record_of();
  const std::size_t scan = behind_marker(record, 0xda);
  // A scan of the first component alone; the bytes after it would have to be codes.
  const Buffer one = mended(record, [&](Buffer& r) {
    const std::size_t rest = 4;  // bytes of the two other components
    r[scan + 1] = std::byte{8};
    r[scan + 2] = std::byte{1};
    r.erase(r.begin() + static_cast<long>(scan) + 5,
            r.begin() + static_cast<long>(scan + 5 + rest));
    set_u32(r, 16, load_le<std::uint32_t>(r.data() + 16) - std::uint32_t{rest});
  });
  expect_error([&] { decode_all(one); }, {"byte"});
}

TEST(HostilePacked, random_damage_with_right_sums_is_an_error_or_other_pixels) {
  std::mt19937 random(5);
  int decoded = 0;
  for (const JpegKind& kind : {JpegKind{}, {.across = 1, .down = 1}, {.quality = 100}}) {
    const Buffer sound = record_of(kind);
    Buffer memory;
    for (int round = 0; round < 3000; ++round) {
      const Buffer damaged = mended(sound, [&](Buffer& record) {
        for (std::size_t i = 0; i <= random() % 3; ++i) {
          std::byte& byte = record[random() % record.size()];
          byte = random() % 2 == 0 ? byte ^ std::byte(1U << random() % 8) : std::byte(random());
        }
        if (random() % 8 == 0) record.resize(random() % record.size());
      });
      const FencedBytes bytes(damaged, round % 2 == 0 ? Fence::behind : Fence::before);
      try {
        decode_all(bytes.bytes());
        packed_codec.decode_part(bytes.bytes(), shape, {5, 20, 9, 30}, memory);
        ++decoded;
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("JPEG"), std::string_view::npos);
      }
    }
    decode_all(sound);
  }
  EXPECT_GT(decoded, 1000);
}

TEST(HostilePacked, damaged_jpegs_are_refused_as_the_jpeg_codec_does) {
  const Buffer jpeg = jpeg_of(make_image(shape, 2));
  Buffer record;
  for (std::size_t size = 0; size < jpeg.size(); size += 7) {
    expect_error([&] { pack_jpeg(Bytes(jpeg).first(size), record); },
                 {size < 3 ? "not a JPEG" : "byte"});
  }
  pack_jpeg(jpeg, record);
  decode_all(record);
}

TEST(HostilePacked, jpegs_that_cannot_be_packed_without_loss_are_refused) {
  Buffer record;
  // The last bit of the means is missing, so libjpeg smooths.
  JpegKind stops{.across = 1, .down = 1};
  stops.scans.push_back({3, {0, 1, 2}, 0, 0, 0, 1});
  for (int component = 0; component < 3; ++component) {
    stops.scans.push_back({1, {component}, 1, 63, 0, 0});
  }
  const Image image = make_image({64, 64, 3}, 3);
  expect_error([&] { pack_jpeg(jpeg_of(image, stops), record); }, {"last bits", "not packed"});
  // 16 blocks of brightness and one each of two colours.
  JpegKind large{.across = 4, .down = 4};
  for (int component = 0; component < 3; ++component) {
    large.scans.push_back({1, {component}, 0, 63, 0, 0});
  }
  expect_error([&] { pack_jpeg(jpeg_of(image, large), record); }, {"one scan", "not packed"});
}

}  // namespace
}  // namespace feedrate::formats
