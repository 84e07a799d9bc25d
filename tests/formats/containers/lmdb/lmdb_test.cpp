#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/lmdb_environment.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::Environment;
using testing::Example;
using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

TEST(InteropLmdb, our_walk_finds_what_liblmdb_finds_whatever_the_sizes) {
  TempDirectory temporary;
  std::vector<Example> examples;
  for (std::uint32_t i = 0; i < 1200; ++i) {  // values inside leaves and on pages of their own
    examples.push_back({testing::make_image({1 + i % 90, 1 + i % 70, 1}, i), 3, ""});
  }
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
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
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 8, 1}, 500));
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
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 8, 1}, 50));
  { const Environment made_lock_file(temporary / "set", 0); }
  auto first = open_dataset(temporary / "set");
  const auto second = open_dataset(temporary / "set");
  first.reset();
  Scratch scratch;
  EXPECT_EQ(second->read(49, scratch).label, 9);
}

TEST(HostileLmdb, a_lock_file_of_nonsense_does_no_harm) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 8, 1}, 5));
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
  expect_error([&] { open_with("\x90\x03X"s); }, {"neither a Caffe Datum"});
  expect_error([&] { open_with("\x22\x03X"s); }, {"not a Caffe Datum", "3 bytes where 1 are left"});
  expect_error([&] { open_with("\x08\x01\x10\x02\x18\x02\x22\x01x"s); },
               {"states 1x2x2", "holds 1 bytes"});
  expect_error([&] { open_with("\x08\x02\x10\x01\x18\x01\x22\x02xx"s); }, {"1 or 3 channels"});
  expect_error([&] { open_with("\x22\x02xx\x38\x01"s); }, {"no codec knows", "7878"});
}

TEST(HostileLmdb, an_empty_database_is_refused) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", {});
  expect_error([&] { open_dataset(temporary / "set"); }, {"data.mdb", "no entries"});
}

}  // namespace
}  // namespace feedrate::formats
