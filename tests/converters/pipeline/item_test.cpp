#include "converters/pipeline/item.h"

#include <gtest/gtest.h>

#include "formats/codecs/jpeg/jpeg.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/converters/make_odd_images.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;

const Image picture = make_image({48, 64, 3}, 7);

Buffer encoded(const Codec& codec, const Image& image = picture) {
  Buffer bytes;
  codec.encode(image, bytes);
  return bytes;
}

Buffer pixels_of(Bytes jpeg) {
  Buffer pixels(picture.shape.bytes());
  jpeg_codec.decode(jpeg, picture.shape, pixels);
  return pixels;
}

/// An item as a stream may give it: with neither codec nor shape.
Item taken(Bytes bytes, std::string_view name = "n01/picture.JPEG") {
  Item item;
  item.take({.bytes = bytes, .label = 3, .name = name}, 0, true);
  return item;
}

Treatment treatment(std::string_view encoding, std::string_view to = "recordio") {
  return {.encoding = parse_encoding(encoding), .container = &container(to)};
}

TEST(UnitItem, a_kept_jpeg_is_the_same_bytes_and_is_not_decoded) {
  const Buffer jpeg = encoded(jpeg_codec);
  Item item = taken(jpeg);
  ItemScratch scratch;
  item.treat(treatment("keep"), scratch);
  EXPECT_EQ(item.sample.bytes.data(), jpeg.data());
  EXPECT_EQ(item.sample.shape, picture.shape);
  EXPECT_EQ(item.sample.codec, &jpeg_codec);
  EXPECT_EQ(item.stored, stored_digest(3, jpeg));
  EXPECT_FALSE(item.decoded);
  EXPECT_TRUE(scratch.pixels.empty());
}

TEST(UnitItem, a_kept_png_is_looked_at_for_its_digest) {
  const Buffer png = encoded(png_codec);
  Item item = taken(png);
  ItemScratch scratch;
  item.treat(treatment("keep"), scratch);
  EXPECT_EQ(item.sample.bytes.data(), png.data());
  EXPECT_TRUE(item.decoded);
  EXPECT_EQ(item.pixels, sample_digest(3, picture));
}

TEST(UnitItem, another_codec_keeps_the_pixels) {
  const Buffer png = encoded(png_codec);
  Item item = taken(png);
  ItemScratch scratch;
  item.treat(treatment("raw", "lmdb"), scratch);
  EXPECT_EQ(item.sample.codec, &raw_codec);
  EXPECT_TRUE(std::ranges::equal(item.sample.bytes, picture.pixels));
  EXPECT_EQ(item.stored, raw_stored_digest(item.pixels));
}

TEST(UnitItem, a_quality_encodes_a_jpeg_anew) {
  const Buffer jpeg = encoded(jpeg_codec);
  Item item = taken(jpeg);
  ItemScratch scratch;
  item.treat(treatment("jpeg:30"), scratch);
  EXPECT_LT(item.sample.bytes.size(), jpeg.size());
  EXPECT_EQ(item.pixels, sample_digest(3, decode_sample(item.sample)));
}

TEST(UnitItem, a_jpeg_is_packed_without_loss_and_anew_where_a_quality_is_asked) {
  const Buffer jpeg = encoded(jpeg_codec);
  ItemScratch scratch;
  Item item = taken(jpeg);
  item.treat(treatment("packed"), scratch);
  EXPECT_EQ(item.sample.codec, &packed_codec);
  EXPECT_EQ(item.stored, stored_digest(3, item.sample.bytes));
  EXPECT_EQ(item.pixels, sample_digest(3, Image{picture.shape, pixels_of(jpeg)}));
  EXPECT_EQ(item.pixels, sample_digest(3, decode_sample(item.sample)));
  item = taken(jpeg);
  item.treat(treatment("packed:30"), scratch);
  EXPECT_NE(item.pixels, sample_digest(3, Image{picture.shape, pixels_of(jpeg)}));
  EXPECT_EQ(item.pixels, sample_digest(3, decode_sample(item.sample)));
}

TEST(UnitItem, a_packed_jpeg_is_kept_and_goes_through_its_pixels_to_other_codecs) {
  const Buffer jpeg = encoded(jpeg_codec);
  Buffer packed;
  packed_codec.recode(jpeg, packed);
  ItemScratch scratch;
  for (const char* same : {"keep", "packed"}) {
    Item item = taken(packed);
    item.treat(treatment(same), scratch);
    EXPECT_EQ(item.sample.bytes.data(), packed.data());
  }
  Item item = taken(packed);
  item.treat(treatment("png"), scratch);
  EXPECT_EQ(item.pixels, sample_digest(3, Image{picture.shape, pixels_of(jpeg)}));
}

TEST(UnitItem, what_is_no_jpeg_is_packed_as_the_jpeg_it_would_become) {
  const Buffer png = encoded(png_codec);
  ItemScratch scratch;
  Item as_jpeg = taken(png), as_packed = taken(png);
  as_jpeg.treat(treatment("jpeg"), scratch);
  as_packed.treat(treatment("packed"), scratch);
  EXPECT_EQ(as_packed.pixels, as_jpeg.pixels);
}

TEST(UnitItem, a_resize_gives_the_stated_size_and_one_to_the_same_size_keeps_the_bytes) {
  const Buffer jpeg = encoded(jpeg_codec);
  Treatment halved = treatment("keep");
  halved.resize = parse_resize("short:24");
  ItemScratch scratch;
  Item item = taken(jpeg);
  item.treat(halved, scratch);
  EXPECT_EQ(item.sample.shape, (Shape{24, 32, 3}));
  EXPECT_EQ(item.sample.codec, &jpeg_codec);
  EXPECT_EQ(jpeg_codec.shape(item.sample.bytes), (Shape{24, 32, 3}));
  halved.resize = parse_resize("short:48");
  item = taken(jpeg);
  item.treat(halved, scratch);
  EXPECT_EQ(item.sample.bytes.data(), jpeg.data());
}

TEST(UnitItem, a_jpeg_that_only_a_strict_decoder_warns_of_is_kept_and_counted) {
  const Buffer sound = encoded(jpeg_codec);
  Buffer jpeg = sound;
  const std::string_view stray = "\x12\x34\x56\x78";
  jpeg.insert(jpeg.end() - 2, as_bytes(stray).begin(), as_bytes(stray).end());
  ItemScratch scratch;
  for (const char* encoding : {"keep", "packed", "png"}) {
    Item item = taken(jpeg);
    item.treat(treatment(encoding), scratch);
    EXPECT_TRUE(item.doubtful) << encoding;
    item = taken(sound);
    item.treat(treatment(encoding), scratch);
    EXPECT_FALSE(item.doubtful) << encoding;
  }
}

TEST(UnitItem, a_png_named_jpeg_is_mended_only_when_asked) {
  const Buffer png = encoded(png_codec);
  Treatment mending = treatment("keep");
  ItemScratch scratch;
  Item item = taken(png);
  item.treat(mending, scratch);
  EXPECT_FALSE(item.mended);
  mending.fix = Fix::reencode;
  item = taken(png);
  item.treat(mending, scratch);
  EXPECT_TRUE(item.mended);
  EXPECT_EQ(item.sample.codec, &jpeg_codec);
  item = taken(png, "n01/picture.png");
  item.treat(mending, scratch);
  EXPECT_FALSE(item.mended);
}

TEST(UnitItem, cmyk_is_mended_only_when_asked) {
  const Buffer cmyk = odd_image(Odd::cmyk, picture);
  Treatment mending = treatment("keep");
  ItemScratch scratch;
  Item item = taken(cmyk);
  item.treat(mending, scratch);
  EXPECT_FALSE(item.mended);
  mending.fix = Fix::reencode;
  item = taken(cmyk);
  item.treat(mending, scratch);
  EXPECT_TRUE(item.mended);
  EXPECT_EQ(jpeg_header(item.sample.bytes).components, 3U);
}

TEST(InteropItem, cmyk_is_told_by_its_content_and_mended) {
  const auto file = data_file("vectors/jpeg_cmyk_standins/mozilla-jpg-cmyk-1.jpg");
  if (!file) GTEST_SKIP() << "no CMYK JPEG on this machine";
  Buffer cmyk;
  read_file(*file, cmyk);
  Treatment mending = treatment("keep");
  mending.fix = Fix::reencode;
  ItemScratch scratch;
  Item item = taken(cmyk);
  item.treat(mending, scratch);
  EXPECT_TRUE(item.mended);
  EXPECT_EQ(jpeg_header(item.sample.bytes).components, 3U);
}

TEST(HostileItem, a_codec_that_the_container_does_not_hold_is_named_with_what_to_say) {
  const Buffer pixels = picture.pixels;
  Item item;
  item.take({.bytes = pixels, .codec = &raw_codec, .shape = picture.shape}, 0, true);
  ItemScratch scratch;
  expect_error([&] { item.treat(treatment("keep"), scratch); },
               {"recordio does not hold raw images", "--encode"});
}

TEST(HostileItem, what_is_no_picture_is_said) {
  Item item = taken(as_bytes("GIF89a…"));
  ItemScratch scratch;
  expect_error([&] { item.treat(treatment("keep"), scratch); }, {"looks like GIF"});
}

}  // namespace
}  // namespace feedrate::converters
