// Shards of webdataset: the same samples for any number of shards, and the same bytes however often
// the writer is killed.

#include <gtest/gtest.h>

#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/partial_writes.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::Example;
using testing::expect_error;
using testing::files_of;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_part;
using testing::write_with_a_kill;

class UnitWebdatasetShards : public ::testing::Test {
 protected:
  WriterOptions options(std::uint32_t shards) const {
    WriterOptions all;
    all.codec = &png_codec;
    all.classes = {{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, {}};
    all.sharding = {.count = shards, .samples = examples_.size()};
    return all;
  }
  void write(std::string_view name, const WriterOptions& with) const {
    write_part(format_, temporary_ / name, with, examples_);
  }

  TempDirectory temporary_;
  const Container& format_ = container("webdataset");
  const std::vector<Example> examples_ = make_examples({8, 8, 3}, 11, true);
};

TEST_F(UnitWebdatasetShards, any_number_of_shards_holds_the_same_samples) {
  write("1", options(1));
  const auto digest = verify(*open_dataset(temporary_ / "1"), 1).digest.digest;
  for (const std::uint32_t shards : {2U, 3U, 11U, 13U}) {
    const std::string name = std::to_string(shards);
    write(name, options(shards));
    const Verification result = verify(*open_dataset(temporary_ / name), 1);
    EXPECT_EQ(result.digest.digest, digest) << shards;
    EXPECT_TRUE(result.findings.empty()) << shards;
    EXPECT_EQ(files_of(temporary_ / name).size(), 2 * shards);
  }
}

TEST_F(UnitWebdatasetShards, keys_count_through_all_shards) {
  write("3", options(3));
  const auto files = files_of(temporary_ / "3");
  EXPECT_EQ(files.at("train-000001.idx").substr(0, 30), "v1.2 4\ncls 512 1 00000003.cls ");
  EXPECT_EQ(files.at("train-000002.idx").substr(0, 30), "v1.2 4\ncls 512 1 00000007.cls ");
}

TEST_F(UnitWebdatasetShards, the_number_of_samples_need_not_be_known_for_one_shard) {
  WriterOptions unknown = options(1);
  write("known", unknown);
  unknown.sharding.samples = 0;
  write("unknown", unknown);
  EXPECT_EQ(files_of(temporary_ / "unknown"), files_of(temporary_ / "known"));
}

TEST_F(UnitWebdatasetShards, parts_made_apart_are_the_files_of_the_whole) {
  write("whole", options(4));
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    WriterOptions part = options(4);
    part.first = part.sharding.begin(shard);
    part.last = part.sharding.begin(shard + 1);
    write("parts", part);
  }
  EXPECT_EQ(files_of(temporary_ / "parts"), files_of(temporary_ / "whole"));
}

TEST_F(UnitWebdatasetShards, a_writer_killed_anywhere_is_gone_on_from) {
  for (const std::uint32_t shards : {1U, 3U, 13U}) {
    temporary_.clear();
    write("whole", options(shards));
    const auto whole = files_of(temporary_ / "whole");
    for (std::uint64_t paused = 0; paused <= examples_.size(); ++paused) {
      for (const std::uint64_t more : {0U, 1U, 5U}) {
        write_with_a_kill(format_, temporary_ / "killed", options(shards), examples_, paused, more);
        EXPECT_EQ(files_of(temporary_ / "killed"), whole) << paused << " and " << more;
        fs::remove_all(temporary_ / "killed");
      }
    }
  }
}

TEST_F(UnitWebdatasetShards, a_shard_that_is_not_what_was_left_is_not_gone_on_from) {
  write("set", options(1));
  const auto go_on = [&](std::uint64_t size) {
    const WriterState state{2, {{"train-000000.tar", size}}};
    WriterOptions with = options(1);
    with.resume = &state;
    write("set", with);
  };
  expect_error([&] { go_on(1024 + 100); }, {"train-000000.tar", "cannot go on writing"});
  expect_error([&] { go_on(1 << 20); },
               {"train-000000.tar", "cannot go on writing at byte 1048576"});
}

TEST_F(UnitWebdatasetShards, a_missing_shard_is_noticed) {
  write("set", options(3));
  fs::remove(temporary_ / "set/train-000001.tar");
  expect_error([&] { open_dataset(temporary_ / "set"); }, {"misses a shard", "train-000000.tar"});
}

}  // namespace
}  // namespace feedrate::formats
