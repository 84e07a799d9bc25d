#include "formats/containers/shards.h"

#include <gtest/gtest.h>

#include <numeric>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

class UnitShards : public ::testing::Test {
 protected:
  void make(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) OutputFile(temporary_ / name).close();
  }
  std::vector<std::string> names(const std::vector<fs::path>& files) {
    std::vector<std::string> all;
    for (const fs::path& file : files) {
      EXPECT_EQ(file.parent_path(), temporary_.path());
      all.push_back(file.filename().string());
    }
    return all;
  }

  TempDirectory temporary_;
};

using Names = std::vector<std::string>;

TEST_F(UnitShards, names_of_every_known_dialect_come_back) {
  for (const char* name :
       {"train-00000-of-00004", "data-00003-of-00004.rec",
        "flowers_validation_00000-of-00005.tfrecord", "imagenet2012-train.tfrecord-00017-of-01024",
        "train-00000-of-00001.tfrecord.gz", "a-of-b-00001-of-00002", "train-123456-of-200000"}) {
    const auto parsed = parse_shard_name(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->text(), name);
  }
  const auto name = parse_shard_name("data-00003-of-00004.rec");
  EXPECT_EQ(name->stem, "data");
  EXPECT_EQ(name->shard, 3U);
  EXPECT_EQ(name->count, 4U);
  EXPECT_EQ(name->extension, ".rec");
}

TEST_F(UnitShards, other_names_are_no_shards) {
  for (const char* name :
       {"", "train", "train-000000.tar", "00000-of-00004", "-00000-of-00004", "train00000-of-00004",
        "train-00000-of-", "train--of-00004", "train-00000-of-00000", "train-00000-of-00004x",
        "train-00000-of-99999999999", "train-99999999999-of-00001", "train-+1-of-00004"}) {
    EXPECT_FALSE(parse_shard_name(name)) << name;
  }
}

TEST_F(UnitShards, a_set_is_found_from_any_of_its_shards_and_in_order) {
  make({"train-00002-of-00003", "train-00000-of-00003", "train-00001-of-00003",
        "train-00000-of-00003.idx", "validation-00000-of-00001", "labels.txt"});
  fs::create_directory(temporary_ / "train-00007-of-00009");  // no file, no shard
  const ShardSet set = find_shards(temporary_ / "train-00001-of-00003");
  EXPECT_EQ(names(set.files),
            (Names{"train-00000-of-00003", "train-00001-of-00003", "train-00002-of-00003"}));
  EXPECT_TRUE(set.complete());
  EXPECT_TRUE(set.missing.empty());
  require_complete(set);
  EXPECT_EQ(
      names(shard_sets(temporary_.path())),
      (Names{"train-00000-of-00003", "train-00000-of-00003.idx", "validation-00000-of-00001"}));
  EXPECT_TRUE(shard_sets(temporary_ / "nowhere").empty());
}

TEST_F(UnitShards, missing_shards_are_named) {
  make({"train-00002-of-00004"});
  const ShardSet set = find_shards(temporary_ / "train-00002-of-00004");
  EXPECT_FALSE(set.complete());
  expect_error([&] { require_complete(set); },
               {temporary_.path().string(), "1 of 4 shards", "train-00000-of-00004",
                "train-00001-of-00004", "train-00003-of-00004"});
}

TEST_F(UnitShards, a_name_that_promises_billions_of_shards_costs_nothing) {
  make({"train-00001-of-4294967295"});
  expect_error([&] { require_complete(find_shards(temporary_ / "train-00001-of-4294967295")); },
               {"1 of 4294967295", "train-00000-of-4294967295", "and 4294967291 more"});
}

TEST_F(UnitShards, sets_that_contradict_themselves_are_refused) {
  make({"train-00000-of-00002", "train-00001-of-00002", "train-00001-of-00003"});
  expect_error([&] { find_shards(temporary_ / "train-00000-of-00002"); },
               {"two sets", "train-00001-of-00002", "train-00001-of-00003"});
  temporary_.clear();
  make({"train-00000-of-00002", "train-0-of-2", "train-00001-of-00002"});
  expect_error([&] { find_shards(temporary_ / "train-00000-of-00002"); },
               {"shard 0 twice", "train-0-of-2"});
  temporary_.clear();
  make({"train-00001-of-00002", "train-00002-of-00002"});
  expect_error([&] { find_shards(temporary_ / "train-00001-of-00002"); },
               {"train-00002-of-00002", "no shard 2 of 2", "count from 0"});
  expect_error([&] { find_shards(temporary_ / "train.rec"); }, {"train.rec", "not named"});
  expect_error([&] { find_shards(temporary_ / "test-00000-of-00002"); }, {"no such file"});
}

// Which samples each shard receives when a writer is led by a ShardRun.
std::vector<std::vector<std::uint64_t>> walk(const WriterOptions& options) {
  ShardRun run(options);
  std::vector<std::vector<std::uint64_t>> shards(options.sharding.count);
  std::vector<bool> opened(options.sharding.count);
  std::optional<std::uint32_t> current = run.resumed_shard();
  const auto open = [&](std::uint32_t shard) {
    EXPECT_FALSE(opened[shard]);
    opened[shard] = true;
    current = shard;
  };
  const std::uint64_t last = options.last != 0 ? options.last : options.sharding.samples;
  while (run.index() < last) {
    while (const auto shard = run.shard_to_open()) open(*shard);
    shards[current.value()].push_back(run.index());
    run.advance();
  }
  while (const auto shard = run.shard_left()) open(*shard);
  EXPECT_EQ(run.added(), last - options.first);
  if (options.resume == nullptr && options.first == 0 && options.last == 0) {
    EXPECT_EQ(std::count(opened.begin(), opened.end(), true), options.sharding.count);
  }
  return shards;
}

TEST_F(UnitShards, samples_fall_into_runs_of_nearly_equal_length) {
  for (const std::uint64_t samples : {1, 2, 7, 16, 100}) {
    for (const std::uint32_t count : {1U, 2U, 5U, 7U, 16U}) {
      const Sharding sharding{count, samples};
      const auto shards = walk({.sharding = sharding});
      std::uint64_t next = 0;
      for (std::uint32_t k = 0; k < count; ++k) {
        EXPECT_EQ(shards[k].size(), sharding.begin(k + 1) - sharding.begin(k));
        for (const std::uint64_t sample : shards[k]) EXPECT_EQ(sample, next++);
      }
      EXPECT_EQ(next, samples);
    }
  }
}

TEST_F(UnitShards, parts_together_fill_every_shard_once) {
  const Sharding sharding{7, 23};
  const auto whole = walk({.sharding = sharding});
  for (const std::uint32_t cut : {1U, 3U, 6U}) {
    auto parts = walk({.sharding = sharding, .last = sharding.begin(cut)});
    const auto rest = walk({.sharding = sharding, .first = sharding.begin(cut)});
    for (std::uint32_t k = 0; k < sharding.count; ++k) {
      EXPECT_TRUE(parts[k].empty() || rest[k].empty());
      parts[k].insert(parts[k].end(), rest[k].begin(), rest[k].end());
      EXPECT_EQ(parts[k], whole[k]) << "cut " << cut << " shard " << k;
    }
  }
}

TEST_F(UnitShards, shards_without_samples_belong_to_one_part) {
  const Sharding sharding{8, 3};  // shards 0, 1, 3, 4, 6 are empty: 2, 5 and 7 hold a sample
  ShardRun first({.sharding = sharding, .last = 1}), second({.sharding = sharding, .first = 1});
  std::vector<std::uint32_t> opened;
  for (ShardRun* run : {&first, &second}) {
    while (const auto shard = run->shard_left()) opened.push_back(*shard);
  }
  std::vector<std::uint32_t> all(sharding.count);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(opened, all);
}

TEST_F(UnitShards, a_killed_run_goes_on_at_any_sample) {
  const Sharding sharding{4, 10};
  const auto whole = walk({.sharding = sharding});
  for (std::uint64_t done = 0; done <= 10; ++done) {
    const WriterState state{done, {}};
    const auto rest = walk({.sharding = sharding, .resume = &state});
    std::uint64_t next = done;
    for (std::uint32_t k = 0; k < sharding.count; ++k) {
      for (const std::uint64_t sample : rest[k]) {
        EXPECT_EQ(sample, next++);
        EXPECT_GE(sample, sharding.begin(k));
        EXPECT_LT(sample, sharding.begin(k + 1));
      }
    }
    EXPECT_EQ(next, 10U);
    const auto resumed = ShardRun({.sharding = sharding, .resume = &state}).resumed_shard();
    ASSERT_EQ(resumed.has_value(), done != 0);
    if (done != 0) {
      EXPECT_LT(sharding.begin(*resumed), done);
      EXPECT_GE(sharding.begin(*resumed + 1), done);
    }
  }
}

TEST_F(UnitShards, one_shard_needs_no_number_of_samples) {
  ShardRun run({});
  EXPECT_EQ(run.shard_to_open(), 0U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(run.shard_to_open(), std::nullopt);
    run.advance();
  }
  EXPECT_EQ(run.shard_left(), std::nullopt);
  const WriterState state{1000, {}};
  ShardRun resumed({.resume = &state});
  EXPECT_EQ(resumed.resumed_shard(), 0U);
  EXPECT_EQ(resumed.shard_to_open(), std::nullopt);
  EXPECT_EQ(resumed.index(), 1000U);
}

TEST_F(UnitShards, runs_that_cannot_be_are_refused) {
  const Sharding sharding{4, 10};
  expect_error([&] { ShardRun({.sharding = {4, 0}}); }, {"must be known", "4 shards"});
  expect_error([&] { ShardRun({.sharding = {0, 10}}); }, {"at least one shard"});
  expect_error([&] { ShardRun({.sharding = sharding, .first = 1}); }, {"whole shards"});
  expect_error([&] { ShardRun({.sharding = sharding, .last = 9}); }, {"whole shards"});
  expect_error([&] { ShardRun({.sharding = sharding, .last = 11}); }, {"whole shards"});
  expect_error([&] { ShardRun({.sharding = sharding, .first = 5, .last = 2}); }, {"whole shards"});
  expect_error([&] { ShardRun({.first = 1}); }, {"whole shards"});
  const WriterState beyond{11, {}};
  expect_error([&] { ShardRun({.sharding = sharding, .resume = &beyond}); }, {"11 samples"});
  ShardRun full({.sharding = {1, 1}});
  full.shard_to_open();
  full.advance();
  expect_error([&] { full.shard_to_open(); }, {"more samples than the 1"});
}

TEST_F(UnitShards, the_size_of_a_resumed_file_is_looked_up_by_name) {
  const WriterState state{3, {{"a", 1}, {"b", 2}}};
  EXPECT_EQ(resumed_size(state, "b", "dir"), 2U);
  expect_error([&] { resumed_size(state, "c", "dir"); }, {"dir", "the size of c is unknown"});
}

}  // namespace
}  // namespace feedrate::formats
