#include "formats/io/page_cache.h"
#include "formats/dataset.h"

#include <gtest/gtest.h>

#include "formats/base/pages.h"
#include "formats/container.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using namespace testing;
namespace fs = std::filesystem;

TEST(UnitPageCache, what_is_read_is_in_memory_until_it_is_dropped) {
  const TempDirectory directory;
  const fs::path file = directory / "file";
  write_text(file, std::string(1'000'000, 'x'));
  const std::vector<fs::path> files{file};
  EXPECT_EQ(in_memory(files).bytes, round_up(std::size_t{1'000'000}, page_bytes()))
      << "whole pages";
  EXPECT_EQ(in_memory(files).share(), 1.0) << "just written";
  evict_from_page_cache(files);
  const double left = in_memory(files).share();
  if (left == 1.0) GTEST_SKIP() << "a file system in memory: its files cannot leave it";
  EXPECT_EQ(left, 0.0);
  const MappedFile map(file);
  unsigned sum = 0;
  for (const std::byte byte : map.bytes()) sum += std::to_integer<unsigned>(byte);
  EXPECT_EQ(sum, 1'000'000U * 'x');
  EXPECT_EQ(in_memory(files).share(), 1.0);
  evict_from_page_cache(files);
  EXPECT_EQ(in_memory(files).share(), 0.0) << "a map of our own does not hold it";
  EXPECT_EQ(map.bytes()[999'999], std::byte{'x'}) << "it comes again";
}

TEST(UnitPageCache, a_dataset_names_its_files_each_once) {
  const TempDirectory directory;
  const auto examples = make_examples({8, 8, 3}, 12);
  write_dataset(container("lmdb"), raw_codec, directory / "lmdb", examples);
  write_dataset(container("png-map"), png_codec, directory / "map", examples);
  EXPECT_EQ(sample_files(*open_dataset(directory / "lmdb")),
            std::vector<fs::path>{directory / "lmdb/data.mdb"});
  EXPECT_EQ(sample_files(*open_dataset(directory / "map")).size(), 12U);
}

TEST(UnitPageCache, of_nothing_nothing_is_in_memory) {
  const TempDirectory directory;
  write_text(directory / "empty", "");
  EXPECT_EQ(in_memory(std::vector<fs::path>{directory / "empty"}).share(), 0.0);
  EXPECT_EQ(in_memory({}).bytes, 0U);
}

TEST(HostilePageCache, a_file_that_is_not_there_is_named) {
  const TempDirectory directory;
  const std::vector<fs::path> files{directory / "gone"};
  expect_error([&] { evict_from_page_cache(files); }, {"gone", "cannot open"});
  expect_error([&] { in_memory(files); }, {"gone", "cannot open"});
}

}  // namespace
}  // namespace feedrate::formats
