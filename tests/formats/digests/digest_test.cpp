#include "formats/digests/digest.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

// FIPS 180-2's own example.
constexpr const char* abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(UnitDigest, sha_256_of_the_standard_s_example) {
  EXPECT_EQ(hex(sha256(as_bytes("abc"))), abc);
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(UnitDigest, a_hasher_starts_anew_after_each_digest) {
  Hasher hasher;
  hasher.add(as_bytes("a"));
  hasher.add(as_bytes("bc"));
  EXPECT_EQ(hex(hasher.finish()), abc);
  hasher.add(as_bytes("abc"));
  EXPECT_EQ(hex(hasher.finish()), abc);
}

TEST(UnitDigest, a_file_is_hashed_whole) {
  testing::TempDirectory temporary;
  write_text(temporary / "file", "abc");
  EXPECT_EQ(file_hash(temporary / "file"), "xxh128:06b05ab6733a618578af5f94892f3950");
  write_text(temporary / "file", "");
  EXPECT_EQ(file_hash(temporary / "file"), "xxh128:99aa06d3014798d86001c324468d497f");
}

TEST(UnitDigest, stored_bytes_are_told_apart_by_xxh3_and_by_their_label) {
  // XXH3-128 of nothing, as `xxhsum -H2` prints it.
  EXPECT_EQ(hex(stored_digest(0, {})), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(stored_digest(1, as_bytes("abc")), stored_digest(0, as_bytes("abc")));
  EXPECT_NE(stored_digest(1, as_bytes("abc")), stored_digest(1, as_bytes("abd")));
  EXPECT_EQ(hex(raw_stored_digest(sha256(as_bytes("abc")))), std::string_view(abc).substr(0, 32));
}

TEST(UnitDigest, a_sample_is_label_shape_and_pixels_little_endian) {
  const Buffer pixels = {std::byte{1}, std::byte{2}, std::byte{3}};
  Buffer written;
  for (const std::uint32_t number : {7U, 1U, 1U, 3U}) append_le(written, number);
  append(written, pixels);
  EXPECT_EQ(sample_digest(7, {{1, 1, 3}, pixels}), sha256(written));
}

TEST(UnitDigest, the_set_digest_forgets_the_order_and_the_digest_does_not) {
  const Sha256 a = sha256(as_bytes("a"));
  const Sha256 b = sha256(as_bytes("b"));
  const DatasetDigest forward = dataset_digest(std::array{a, b});
  const DatasetDigest backward = dataset_digest(std::array{b, a});
  EXPECT_NE(forward.digest, backward.digest);
  EXPECT_EQ(forward.set_digest, backward.set_digest);
}

TEST(UnitDigest, the_digest_of_details_knows_their_order_and_can_be_added_up) {
  DetailsDigest whole, front, back, swapped;
  whole.add(0, as_bytes("ant"));
  whole.add(1, as_bytes("bee"));
  back.add(1, as_bytes("bee"));
  front.add(0, as_bytes("ant"));
  front.add(back);
  EXPECT_EQ(front.text(), whole.text());
  EXPECT_EQ(whole.text().size(), 32U);
  swapped.add(0, as_bytes("bee"));
  swapped.add(1, as_bytes("ant"));
  EXPECT_NE(swapped.text(), whole.text());
  // With the index 0, which is xxHash's default seed, one sample's is what `xxhsum -H2` prints.
  DetailsDigest one;
  one.add(0, as_bytes("ant"));
  EXPECT_EQ(one.text(), hex(stored_digest(0, as_bytes("ant"))));
  DetailsDigest none;
  none.add(0, {});
  EXPECT_EQ(none.text(), "");
}

}  // namespace
}  // namespace feedrate::formats
