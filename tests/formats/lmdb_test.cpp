#include <gtest/gtest.h>
#include <lmdb.h>

#include "formats/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using testing::Example;
using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

const Container& lmdb() { return container("lmdb"); }

// An LMDB seen through liblmdb alone: the referee for our writer and the maker for our reader.
class Environment {
 public:
  explicit Environment(const fs::path& directory, unsigned flags = MDB_RDONLY | MDB_NOLOCK) {
    EXPECT_EQ(mdb_env_create(&environment_), 0);
    EXPECT_EQ(mdb_env_open(environment_, directory.c_str(), flags, 0664), 0);
    EXPECT_EQ(mdb_txn_begin(environment_, nullptr, flags & MDB_RDONLY, &transaction_), 0);
    EXPECT_EQ(mdb_dbi_open(transaction_, nullptr, 0, &database_), 0);
  }
  ~Environment() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    mdb_env_close(environment_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  std::vector<std::pair<std::string, Buffer>> entries() const {
    std::vector<std::pair<std::string, Buffer>> all;
    MDB_cursor* cursor = nullptr;
    EXPECT_EQ(mdb_cursor_open(transaction_, database_, &cursor), 0);
    MDB_val key, value;
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
      const auto* at = static_cast<const std::byte*>(value.mv_data);
      all.emplace_back(std::string(static_cast<const char*>(key.mv_data), key.mv_size),
                       Buffer(at, at + value.mv_size));
    }
    mdb_cursor_close(cursor);
    return all;
  }
  MDB_stat stat() const {
    MDB_stat stat;
    EXPECT_EQ(mdb_stat(transaction_, database_, &stat), 0);
    return stat;
  }
  std::size_t map_size() const {
    MDB_envinfo info;
    EXPECT_EQ(mdb_env_info(environment_, &info), 0);
    return info.me_mapsize;
  }
  void put(std::string key, std::string value) {
    MDB_val k{key.size(), key.data()}, v{value.size(), value.data()};
    EXPECT_EQ(mdb_put(transaction_, database_, &k, &v, 0), 0);
  }
  void commit() { EXPECT_EQ(mdb_txn_commit(std::exchange(transaction_, nullptr)), 0); }

 private:
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
};

TEST(InteropLmdb, liblmdb_finds_caffe_s_keys_and_values_and_nothing_else_lies_there) {
  TempDirectory temporary;
  const auto examples = make_examples({3, 2, 1}, 3);
  write_dataset(lmdb(), raw_codec, temporary / "set", examples);
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary / "set"), {}), 1) << "only data.mdb";
  const auto entries = Environment(temporary / "set").entries();
  ASSERT_EQ(entries.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(entries[i].first, join("0000000", i));
    EXPECT_EQ(hex(entries[i].second),
              "0801"
              "1003"
              "1802"
              "2206" +
                  hex(examples[i].image.pixels) + "280" + std::to_string(i) + "3800");
  }
}

TEST(InteropLmdb, named_samples_get_convert_imageset_s_keys_and_its_blue_first_planes) {
  TempDirectory temporary;
  std::vector<Example> examples(2);
  examples[0].image = {
      {1, 2, 3},
      {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}}};
  examples[1].image = examples[0].image;
  examples[0].name = "cat/1.png";
  write_dataset(lmdb(), raw_codec, temporary / "set", examples);
  const auto entries = Environment(temporary / "set").entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].first, "00000000_cat/1.png");
  EXPECT_EQ(hex(entries[0].second),
            "080310011802"
            "2206"
            "030602050104"
            "28003800");
  EXPECT_EQ(entries[1].first, "00000001");
  EXPECT_EQ(hex(entries[1].second),
            "080310011802"
            "2206"
            "010402050306"
            "28003800");
  Scratch scratch;
  EXPECT_EQ(open_dataset(temporary / "set")->read(0, scratch).name, "cat/1.png");
}

// The layout depends on sizes alone, and Caffe's own loop was measured to give these numbers.
TEST(InteropLmdb, sixty_thousand_digits_fill_the_pages_that_caffe_s_tool_fills) {
  TempDirectory temporary;
  std::vector<Example> examples(60000);
  for (Example& example : examples) example.image = {{28, 28, 1}, Buffer(784)};
  write_dataset(lmdb(), raw_codec, temporary / "set", examples);
  const Environment environment(temporary / "set");
  const MDB_stat stat = environment.stat();
  EXPECT_EQ(stat.ms_entries, 60000U);
  EXPECT_EQ(environment.map_size(), 67108864U);
  EXPECT_EQ(stat.ms_overflow_pages, 0U);
  if (stat.ms_psize != 4096) GTEST_SKIP() << "the other numbers are for pages of 4096 bytes";
  EXPECT_EQ(stat.ms_depth, 3U);
  EXPECT_EQ(stat.ms_leaf_pages, 15000U);
  EXPECT_EQ(fs::file_size(temporary / "set/data.mdb"), 61763584U);
}

TEST(InteropLmdb, our_walk_finds_what_liblmdb_finds_whatever_the_sizes) {
  TempDirectory temporary;
  std::vector<Example> examples;
  for (std::uint32_t i = 0; i < 1200; ++i) {  // values inside leaves and on pages of their own
    examples.push_back({testing::make_image({1 + i % 90, 1 + i % 70, 1}, i), 3, ""});
  }
  write_dataset(lmdb(), raw_codec, temporary / "set", examples);
  const auto dataset = open_dataset(temporary / "set");
  const auto entries = Environment(temporary / "set").entries();
  ASSERT_EQ(entries.size(), dataset->size());
  Scratch scratch;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_NE(hex(entries[i].second).find(hex(sample.bytes)), std::string::npos);
    EXPECT_EQ(testing::decode_sample(sample).pixels, examples[i].image.pixels);
  }
}

TEST(UnitLmdb, an_environment_that_a_writer_holds_is_read_as_it_was) {
  TempDirectory temporary;
  write_dataset(lmdb(), raw_codec, temporary / "set", make_examples({8, 8, 1}, 500));
  Environment writer(temporary / "set", 0);  // makes a lock file, as a live environment has
  const auto dataset = open_dataset(temporary / "set");
  for (int i = 0; i < 400; ++i) writer.put(join("0000", 1000 + i), std::string(900, 'x'));
  writer.commit();
  EXPECT_EQ(dataset->size(), 500U);
  Scratch scratch;
  EXPECT_EQ(dataset->read(499, scratch).label, 9);
}

TEST(UnitLmdb, one_environment_is_opened_twice_and_outlives_either) {
  TempDirectory temporary;
  write_dataset(lmdb(), raw_codec, temporary / "set", make_examples({8, 8, 1}, 50));
  { const Environment made_lock_file(temporary / "set", 0); }
  auto first = open_dataset(temporary / "set");
  const auto second = open_dataset(temporary / "set");
  first.reset();
  Scratch scratch;
  EXPECT_EQ(second->read(49, scratch).label, 9);
}

TEST(HostileLmdb, a_lock_file_of_nonsense_does_no_harm) {
  TempDirectory temporary;
  write_dataset(lmdb(), raw_codec, temporary / "set", make_examples({8, 8, 1}, 5));
  for (const std::size_t size : {0U, 3U, 100U, 8192U}) {
    write_text(temporary / "set/lock.mdb", std::string(size, '\x5a'));
    EXPECT_EQ(open_dataset(temporary / "set")->size(), 5U) << size;
  }
}

TEST(HostileLmdb, values_that_are_no_images_are_refused_in_words) {
  const auto open_with = [](const std::string& value) {
    TempDirectory temporary;
    {
      Environment made(temporary.path(), 0);
      made.put("00000000", value);
      made.commit();
    }
    open_dataset(temporary.path());
  };
  using namespace std::string_literals;
  expect_error([&] { open_with("\x35\0\0\x80\x3f"s); }, {"data.mdb", "sample 0", "float_data"});
  expect_error([&] { open_with("\x28\x01"s); }, {"key '00000000'", "no image data"});
  expect_error([&] { open_with("\x80\x03X"s); }, {"no Caffe Datum"});
  expect_error([&] { open_with("\x08\x01\x10\x02\x18\x02\x22\x01x"s); },
               {"states 1x2x2", "holds 1 bytes"});
  expect_error([&] { open_with("\x08\x02\x10\x01\x18\x01\x22\x02xx"s); }, {"1 or 3 channels"});
  expect_error([&] { open_with("\x22\x02xx\x38\x01"s); }, {"no codec knows", "7878"});
}

TEST(HostileLmdb, an_empty_database_is_refused) {
  TempDirectory temporary;
  write_dataset(lmdb(), raw_codec, temporary / "set", {});
  expect_error([&] { open_dataset(temporary / "set"); }, {"data.mdb", "no entries"});
}

TEST(HostileLmdb, a_name_too_long_for_a_key_is_refused) {
  TempDirectory temporary;
  auto examples = make_examples({2, 2, 1}, 1);
  examples[0].name = std::string(503, 'n');
  expect_error([&] { write_dataset(lmdb(), raw_codec, temporary / "set", examples); },
               {"sample 0", "more than 511 bytes"});
}

}  // namespace
}  // namespace feedrate
