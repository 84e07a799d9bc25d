#include "formats/digests/running_digest.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

Sha256 digest_of(int number) { return sha256(as_bytes(std::to_string(number))); }

TEST(UnitSortedDigest, any_number_of_runs_gives_the_digest_of_one_sort) {
  const TempDirectory directory;
  for (const int count : {0, 1, 3, 4, 5, 8, 11, 12, 13, 30, 64, 100, 257}) {
    SCOPED_TRACE(count);
    // Runs of 4, merged by three, so that merged runs meet runs of the first level.
    SortedDigest sorted(directory.path(), {.run_digests = 4, .merged_runs = 3});
    std::vector<Sha256> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(digest_of(i % 50));  // some are equal
      sorted.add(all.back());
    }
    EXPECT_EQ(hex(sorted.finish()), dataset_digest(all).set_digest);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "the file has no name";
  }
}

TEST(UnitSortedDigest, digests_alike_in_their_first_bytes_are_sorted_by_the_others) {
  const TempDirectory directory;
  SortedDigest sorted(directory.path(), {.run_digests = 3, .merged_runs = 2});
  std::vector<Sha256> all;
  for (int i = 0; i < 20; ++i) {
    Sha256 digest{};
    digest[8] = digest[31] = static_cast<std::byte>(37 * i);
    all.push_back(digest);
    sorted.add(digest);
  }
  EXPECT_EQ(hex(sorted.finish()), dataset_digest(all).set_digest);
}

TEST(HostileSortedDigest, a_directory_that_is_not_there_is_named) {
  const TempDirectory directory;
  SortedDigest sorted(directory / "absent", {.run_digests = 1, .merged_runs = 2});
  sorted.add(digest_of(1));
  expect_error([&] { sorted.add(digest_of(2)); }, {"absent", "cannot make a file"});
}

TEST(UnitRunningDigest, it_gives_the_digests_of_the_whole_dataset) {
  const TempDirectory directory;
  RunningDigest running(directory.path());
  std::vector<Sha256> pixels;
  std::vector<StoredDigest> stored;
  for (int i = 0; i < 100; ++i) {
    pixels.push_back(digest_of(i));
    stored.push_back(raw_stored_digest(digest_of(-i)));
    running.add({stored.back(), pixels.back()});
  }
  const RunningDigest::Result result = running.finish();
  EXPECT_EQ(result.pixels.digest, dataset_digest(pixels).digest);
  EXPECT_EQ(result.pixels.set_digest, dataset_digest(pixels).set_digest);
  EXPECT_EQ(result.stored, ordered_digest(stored));
}

TEST(UnitRunningDigest, one_sample_that_was_not_decoded_leaves_no_digest_of_pixels) {
  const TempDirectory directory;
  RunningDigest running(directory.path());
  running.add({raw_stored_digest(digest_of(1)), digest_of(1)});
  running.add({raw_stored_digest(digest_of(2)), {}});
  running.add({raw_stored_digest(digest_of(3)), digest_of(3)});
  const RunningDigest::Result result = running.finish();
  EXPECT_EQ(result.pixels.digest, "");
  EXPECT_EQ(result.pixels.set_digest, "");
  EXPECT_NE(result.stored, "");
}

}  // namespace
}  // namespace feedrate::formats
