#include "converters/pipeline/join.h"

#include <gtest/gtest.h>

#include "formats/verify/verify.h"
#include "tests/converters/made_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr std::uint64_t images = 500;
constexpr std::uint32_t shards = 7;
constexpr std::uint32_t parts = 3;

Conversion convert_made(const Container& to, const fs::path& out, ConvertOptions options) {
  options.threads = 2;
  options.shards = shards;
  return convert_dataset(MadeSource(images), {}, {to, out, "train"}, options);
}

void make_parts(const Container& to, const fs::path& out, ConvertOptions options = {}) {
  for (std::uint32_t number = 1; number <= parts; ++number) {
    options.part = {number, parts};
    convert_made(to, out, options);
  }
}

std::vector<const Container*> shardable_containers() {
  std::vector<const Container*> shardable;
  for (const Container* row : containers()) {
    if (row->shardable()) shardable.push_back(row);
  }
  return shardable;
}

class ConformanceJoin : public ::testing::TestWithParam<const Container*> {};

TEST_P(ConformanceJoin, the_union_of_the_parts_is_what_one_machine_makes) {
  const TempDirectory directory;
  for (const std::optional<std::uint64_t> shuffle : {std::optional<std::uint64_t>(), {11}}) {
    directory.clear();
    convert_made(*GetParam(), directory / "whole", {.shuffle = shuffle});
    make_parts(*GetParam(), directory / "out", {.shuffle = shuffle});
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_EQ(join_parts(directory / "out").samples, images);
    EXPECT_EQ(files_of(directory / "out"), files_of(directory / "whole"));
    EXPECT_TRUE(verify(*open_dataset(directory / "out"), 2).findings.empty());
    EXPECT_FALSE(fs::exists(directory / "out.part-1-of-3"));
  }
}

TEST_P(ConformanceJoin, a_slash_behind_the_name_changes_nothing) {
  const TempDirectory directory;
  make_parts(*GetParam(), directory / "out/");
  EXPECT_EQ(join_parts(directory / "out/").samples, images);
}

INSTANTIATE_TEST_SUITE_P(, ConformanceJoin, ::testing::ValuesIn(shardable_containers()),
                         [](const auto& parameter) {
                           return std::string(parameter.param->name());
                         });

TEST(HostileJoin, a_missing_part_is_named_with_the_way_to_make_it) {
  const TempDirectory directory;
  const Container& to = *shardable_containers().front();
  make_parts(to, directory / "out");
  fs::rename(directory / "out.part-2-of-3", directory / "away");
  expect_error([&] { join_parts(directory / "out"); }, {"part 2 of 3 is missing", "--part 2/3"});
  EXPECT_FALSE(fs::exists(directory / "out"));
  fs::rename(directory / "away", directory / "out.part-2-of-3");
  EXPECT_EQ(join_parts(directory / "out").samples, images);
}

TEST(HostileJoin, parts_of_two_divisions_are_not_mixed) {
  const TempDirectory directory;
  const Container& to = *shardable_containers().front();
  make_parts(to, directory / "out");
  convert_made(to, directory / "out", {.part = {1, 2}});
  expect_error([&] { join_parts(directory / "out"); },
               {"is one of 3 parts, but out.part-1-of-2 is one of 2"});
}

TEST(HostileJoin, parts_made_with_other_options_are_refused) {
  const TempDirectory directory;
  const Container& to = *shardable_containers().front();
  make_parts(to, directory / "out");
  fs::remove_all(directory / "out.part-3-of-3");
  convert_made(to, directory / "out", {.shuffle = 1, .part = {3, 3}});
  expect_error([&] { join_parts(directory / "out"); }, {"part-3-of-3", "--shuffle 1"});
}

TEST(HostileJoin, a_part_that_lost_data_since_is_refused_and_kept) {
  const TempDirectory directory;
  const Container& to = container("recordio");
  make_parts(to, directory / "out");
  const fs::path shard = directory / "out.part-2-of-3" / "data-00003-of-00007.rec";
  const std::uint64_t whole = fs::file_size(shard);
  fs::resize_file(shard, whole - 1);
  expect_error([&] { join_parts(directory / "out"); },
               {"data-00003-of-00007.rec", "expected " + std::to_string(whole), "--part 2/3"});
  fs::remove(shard);
  expect_error([&] { join_parts(directory / "out"); },
               {"data-00003-of-00007.rec", "found No such file"});
  EXPECT_FALSE(fs::exists(directory / "out"));
  fs::remove_all(directory / "out.part-2-of-3");
  convert_made(to, directory / "out", {.part = {2, 3}});
  EXPECT_EQ(join_parts(directory / "out").samples, images);
}

TEST(HostileJoin, without_parts_it_says_what_was_looked_for) {
  const TempDirectory directory;
  expect_error([&] { join_parts(directory / "out"); }, {"no parts", "out.part-1-of-N"});
}

TEST(HostileJoin, a_part_needs_shards_of_its_own_and_a_number) {
  const TempDirectory directory;
  const Container& to = *shardable_containers().front();
  expect_error(
      [&] {
        convert_made(to, directory / "out", {.part = {1, 8}});
      },
      {"8 parts need at least 8 shards, not 7"});
  expect_error([&] { convert_made(to, directory / "out", {.part = {4, 3}}); }, {"no part 4 of 3"});
  expect_error([&] { convert_made(container("lmdb"), directory / "out", {}); },
               {"lmdb is not written in shards"});
}

}  // namespace
}  // namespace feedrate::converters
