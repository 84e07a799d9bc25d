#include "formats/codecs/packed/packed_part.h"

#include <random>

#include "formats/codecs/packed/packed.h"
#include "tests/formats/jpeg_images.h"
#include "tests/support/expect_error.h"
#include "tests/support/mend_packed.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

constexpr Shape part_shape{100, 200, 3};

Buffer part_record(const JpegKind& kind = {}) {
  Buffer record;
  pack_jpeg(jpeg_of(make_image(part_shape, 1), kind), record);
  return record;
}

PackedPart part_of(Bytes record, const Rect& part) {
  const std::optional<PackedPart> found = packed_part(packed_image(record), part_shape, part);
  EXPECT_TRUE(found);
  return found.value_or(PackedPart{});
}

TEST(UnitPackedPart, has_the_mcus_of_the_part_and_of_its_neighbours) {
  const Buffer record = part_record();  // MCUs of 16 x 16 pixels, 13 x 7 of them
  const PackedPart all = part_of(record, {0, 0, 100, 200});
  EXPECT_EQ(all.first_row, 0U);
  EXPECT_EQ(all.rows, 7U);
  EXPECT_EQ(all.columns, 13U);
  EXPECT_EQ(all.row_runs, 2U);
  EXPECT_EQ(all.blocks(), 6U);
  EXPECT_EQ(all.component[1].width, 100U);
  EXPECT_EQ(all.component[1].height, 50U);
  // Two pixels away from an MCU, its samples are needed; three pixels away they are not.
  const PackedPart near = part_of(record, {18, 130, 12, 1});
  EXPECT_EQ(near.first_row, 1U);
  EXPECT_EQ(near.rows, 1U);
  EXPECT_EQ(near.first_column, 8U);
  EXPECT_EQ(near.columns, 1U);
  EXPECT_EQ(near.first_run, 1U);
  EXPECT_EQ(near.runs(), 1U);
  const PackedPart nearer = part_of(record, {17, 129, 14, 14});
  EXPECT_EQ(nearer.first_row, 0U);
  EXPECT_EQ(nearer.rows, 3U);
  EXPECT_EQ(nearer.first_column, 7U);
  EXPECT_EQ(nearer.row_runs, 2U);
}

TEST(UnitPackedPart, copies_the_runs_that_it_needs_and_where_they_begin) {
  const Buffer record = part_record();
  const PackedImage image = packed_image(record);
  const PackedPart part = part_of(record, {40, 150, 20, 20});
  Buffer copy(packed_part_bytes(image, part));
  EXPECT_EQ(copy_packed_part(image, part, copy), copy.size());
  EXPECT_EQ(part.runs(), 2U);
  const auto begin = [&](std::size_t i) { return load_le<std::uint32_t>(copy.data() + 4 * i); };
  EXPECT_EQ(begin(0), 0U);
  EXPECT_EQ(begin(2), copy.size() - 12);
  for (std::uint32_t row = 0; row < 2; ++row) {
    const std::byte* entry = image.index.data() + ((2 + row) * 2 + 1) * packed_entry;
    EXPECT_EQ(run_sum(Bytes(copy).subspan(12 + begin(row), begin(row + 1) - begin(row))),
              load_le<std::uint32_t>(entry + 4));
  }
}

TEST(UnitPackedPart, colours_are_those_that_libjpeg_derives) {
  const auto colours = [](const JpegKind& kind) {
    return part_of(part_record(kind), {0, 0, 1, 1}).colours;
  };
  EXPECT_EQ(colours({}), JpegColours::ycc);
  EXPECT_EQ(colours({.adobe = true}), JpegColours::ycc);
  EXPECT_EQ(colours({.stored = JCS_RGB, .across = 1, .down = 1}), JpegColours::rgb);
}

TEST(UnitPackedPart, a_head_that_no_packer_writes_is_left_to_libjpeg) {
  const Buffer record = part_record();
  const auto refused = [&](std::string_view after, std::size_t at, int value) {
    Buffer other = record;
    const std::size_t found = as_text(other).find(after);
    ASSERT_NE(found, std::string_view::npos);
    other[found + after.size() + at] = std::byte(value);
    mend_packed_jpeg(other);
    EXPECT_FALSE(packed_part(packed_image(other), part_shape, {0, 0, 8, 8}));
  };
  refused("\xff\xdb", 3, 0);     // a zero in a table
  refused("\xff\xdb", 2, 0x05);  // table 5
  refused("\xff\xc0", 9, 0x24);  // other MCUs than its runs have
  refused("\xff\xc0", 10, 3);    // a table that is not there
  refused("\xff\xc0", 11, 1);    // two components of one name
  refused("\xff\xda", 9, 2);     // the scan begins at the second coefficient
  refused("JFI", 0, 'X');        // another marker's text
  EXPECT_FALSE(packed_part(packed_image(record), {100, 100, 3}, {0, 0, 8, 8}));
}

TEST(HostilePackedPart, damage_names_the_byte) {
  Buffer record = part_record();
  const std::size_t data_at = packed_image(record).data_at();
  const PackedPart part = part_of(record, {0, 0, 100, 200});
  Buffer copy(packed_part_bytes(packed_image(record), part));
  const auto copied = [&] { copy_packed_part(packed_image(record), part, copy); };
  record[data_at] ^= std::byte{1};
  expect_error(copied, {join("byte ", data_at, ":"), "the sum of a run does not match"});
  // An index that goes backwards, under a fingerprint that fits.
  std::byte* entry = record.data() + data_at - packed_entry * packed_image(record).runs();
  const std::uint32_t beyond = 0x7fffffff;
  std::memcpy(entry, &beyond, sizeof beyond);
  mend_packed_jpeg(record);
  expect_error(copied, {"a run of MCUs outside the data"});
  expect_error([&] { packed_part_bytes(packed_image(record), part); },
               {"a run of MCUs outside the data"});
}

TEST(HostilePackedPart, ends_out_of_order_are_not_copied_beyond_the_memory) {
  const Shape wide{32, 600, 3};  // two rows of five runs
  Buffer record;
  pack_jpeg(jpeg_of(make_image(wide, 1)), record);
  const PackedImage image = packed_image(record);
  const std::optional<PackedPart> part = packed_part(image, wide, {0, 0, 8, 600});
  ASSERT_TRUE(part);
  ASSERT_EQ(part->runs(), 5U);
  // The second run takes nearly all, the third begins behind its own end, the row's last ends early.
  const auto set_end = [&](std::size_t run, std::size_t end) {
    const auto stored = static_cast<std::uint32_t>(end);
    std::memcpy(record.data() + image.data_at() - (10 - run) * packed_entry, &stored,
                sizeof stored);
  };
  const std::size_t all = image.data.size();
  Buffer data(image.data.begin(), image.data.end());
  for (int times = 0; times < 6; ++times) append(record, data);
  set_end(1, 7 * all - 8);
  set_end(2, 8);
  set_end(3, 16);
  set_end(4, 24);
  set_end(9, 7 * all);
  mend_packed_jpeg(record);
  const PackedImage forged = packed_image(record);
  Buffer copy(packed_part_bytes(forged, *part));
  expect_error([&] { copy_packed_part(forged, *part, copy); }, {"out of order"});
}

unsigned part_rows_at_once(Bytes record, Shape stored) {
  return packed_part(packed_image(record), stored, {0, 0, 1, 1}).value().rows_at_once;
}

// Whatever the host's decoder would find, the copy finds: a device is given sound blocks alone.
TEST(HostilePackedPart, what_is_copied_of_a_damaged_image_can_be_decoded) {
  std::minstd_rand random(5);
  struct Case {
    std::uint32_t channels = 3;
    JpegKind jpeg{};
  };
  const Case cases[] = {{.jpeg = {.quality = 50}},
                        {.jpeg = {.across = 1, .down = 1}},
                        {.jpeg = {.across = 1, .down = 4}},
                        {.jpeg = {.across = 2, .down = 1}},
                        {.channels = 1}};
  std::vector<Buffer> records;
  for (const Case& one : cases) {
    const Shape stored{part_shape.height, part_shape.width, one.channels};
    Buffer jpeg = jpeg_of(make_image(stored, 1), one.jpeg);
    // libjpeg reads two rows of such blocks at once.
    constexpr std::size_t factors = 9;
    if (one.channels == 1) jpeg[behind_marker(jpeg, 0xc0) + factors] = std::byte{0x12};
    pack_jpeg(jpeg, records.emplace_back());
    EXPECT_EQ(part_rows_at_once(records.back(), stored), one.channels == 1 ? 2U : 1U);
  }
  int sound = 0, damaged = 0, elsewhere = 0;
  for (std::size_t times = 0; times < 800; ++times) {
    Buffer record = records[times % 5];
    const Shape stored{part_shape.height, part_shape.width, cases[times % 5].channels};
    const std::size_t data_at = packed_image(record).data_at();
    const std::size_t at = data_at + random() % (record.size() - data_at);
    record[at] ^= static_cast<std::byte>(1U << random() % 8);
    if (times % 7 != 0) mend_packed_jpeg(record);
    const Rect part{static_cast<std::uint32_t>(random() % 70),
                    static_cast<std::uint32_t>(random() % 150), 30, 50};
    bool copied = true, decoded = true;
    Buffer memory;
    try {
      const PackedImage image = packed_image(record);
      const PackedPart needed = packed_part(image, stored, part).value();
      Buffer copy(packed_part_bytes(image, needed));
      copy_packed_part(image, needed, copy);
    } catch (const Error&) {
      copied = false;
    }
    try {
      decode_packed_jpeg_part(record, stored, part, memory);
    } catch (const Error&) {
      decoded = false;
    }
    EXPECT_TRUE(decoded || !copied) << "byte " << at << " of case " << times % 5;
    sound += copied ? 1 : 0;
    damaged += decoded ? 0 : 1;
    elsewhere += decoded && !copied ? 1 : 0;
  }
  EXPECT_GT(sound, 300);
  EXPECT_GT(damaged, 30);
  EXPECT_GT(elsewhere, 0);
}

}  // namespace
}  // namespace feedrate::formats
