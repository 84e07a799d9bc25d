#include "converters/sources/mds_stream.h"

#include <gtest/gtest.h>

#include "formats/codec.h"
#include "formats/dataset.h"
#include "tests/converters/pack_mds.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_mds.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using namespace formats;
using namespace feedrate::testing;
namespace fs = std::filesystem;

std::string jpeg(std::uint32_t number) {
  Buffer encoded;
  jpeg_codec.encode(make_image({5 + number, 6, 3}, number), encoded);
  return std::string(as_text(encoded));
}

class UnitMdsStream : public ::testing::Test {
 protected:
  void SetUp() override { make_mds(data_, {{{jpeg(0), 3}, {jpeg(1), -1}}, {}, {{jpeg(2), 7}}}); }
  // Label and bytes, or the problem.
  std::vector<std::string> samples() const { return samples_in(data_); }
  static std::vector<std::string> samples_in(const fs::path& path) {
    const auto stream = open_packed_mds(path);
    std::vector<std::string> all;
    for (Sample sample; stream->next(sample);) {
      all.push_back(stream->problem().empty() ? join(sample.label, ' ', as_text(sample.bytes))
                                              : std::string(stream->problem()));
    }
    EXPECT_EQ(all.size(), stream->info().size);
    return all;
  }

  TempDirectory directory_;
  fs::path data_ = directory_ / "data";
  const std::vector<std::string> expected_ = {"3 " + jpeg(0), "-1 " + jpeg(1), "7 " + jpeg(2)};
};
class HostileMdsStream : public UnitMdsStream {};

TEST_F(UnitMdsStream, shards_that_are_compressed_as_a_whole_are_unpacked) {
  EXPECT_FALSE(is_packed_mds(data_));
  pack_mds(data_);
  EXPECT_TRUE(is_packed_mds(data_));
  EXPECT_TRUE(is_packed_mds(data_ / "index.json"));
  EXPECT_EQ(samples(), expected_);
  const std::string wished = data_.string() + "?label=label";
  EXPECT_TRUE(is_packed_mds(wished));
  EXPECT_EQ(samples_in(wished), expected_);
  EXPECT_THROW(samples_in(data_.string() + "?label=class"), Error);
}

TEST_F(UnitMdsStream, other_compressions_are_known_by_their_first_bytes) {
  pack_mds(data_, "gz:9", ARCHIVE_FILTER_GZIP);
  EXPECT_EQ(samples(), expected_);
}

TEST_F(UnitMdsStream, an_unpacked_shard_beside_its_packed_file_is_read_instead) {
  const std::string whole = slurp(data_ / "shard.00000.mds");
  pack_mds(data_);
  write(data_ / "shard.00000.mds", whole);
  write(data_ / "shard.00000.mds.zstd", "damaged");
  EXPECT_EQ(samples(), expected_);
}

TEST_F(UnitMdsStream, texts_of_all_shards_are_classes) {
  make_mds(data_, {{{jpeg(0), 0, "dog"}, {jpeg(1), 0, "cat"}}, {}, {{jpeg(2), 0, "ant"}}},
           MdsLabels::texts);
  pack_mds(data_);
  EXPECT_EQ(samples(), (std::vector<std::string>{"2 " + jpeg(0), "1 " + jpeg(1), "0 " + jpeg(2)}));
  const auto stream = open_packed_mds(data_);
  EXPECT_EQ(stream->info().classes, 3U);
  EXPECT_EQ(stream->info().class_names.names, (std::vector<std::string>{"ant", "cat", "dog"}));
}

TEST_F(HostileMdsStream, what_cannot_be_unpacked_is_refused_by_name) {
  pack_mds(data_, "snappy", ARCHIVE_FILTER_NONE);
  expect_error([&] { samples(); }, {"shard.00000.mds.snappy", "snappy", "zstd, gz, bz2 and xz"});
  fs::remove(data_ / "shard.00000.mds.snappy");
  expect_error([&] { samples(); }, {"shard.00000.mds.snappy"});
}

TEST_F(HostileMdsStream, a_shard_of_another_size_than_stated_is_refused) {
  pack_mds(data_);
  const std::string packed = slurp(data_ / "shard.00000.mds.zstd");
  for (const std::string& content : {std::string(5, 'x'), std::string(1 << 20, 'x')}) {
    write(data_ / "shard.00000.mds.zstd", compressed(content, ARCHIVE_FILTER_ZSTD));
    expect_error([&] { samples(); }, {"shard.00000.mds.zstd", "bytes"});
  }
}

// Whatever a byte becomes, the shard is refused, or its samples are, or they can be read.
TEST_F(HostileMdsStream, a_forged_byte_or_a_cut_crashes_nothing) {
  pack_mds(data_);
  const fs::path file = data_ / "shard.00000.mds.zstd";
  const std::string whole = slurp(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string forged = whole;
    forged[at] = static_cast<char>(static_cast<unsigned char>(forged[at]) ^ 0x55U);
    for (const std::string& content : {forged, whole.substr(0, at)}) {
      write(file, content);
      try {
        EXPECT_EQ(samples().size(), expected_.size());
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("shard.00000.mds.zstd"),
                  std::string_view::npos)
            << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::converters
