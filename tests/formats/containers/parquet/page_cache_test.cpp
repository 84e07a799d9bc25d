#include "formats/containers/parquet/page_cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "formats/containers/parquet/parquet_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_parquet.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;

using Page = ParquetPageCache::Page;

class UnitParquetPageCache : public ::testing::Test {
 protected:
  // The page with the number as its only value.
  std::shared_ptr<const Page> get(std::size_t number, std::size_t bytes = 1000) {
    return cache_.get(&keys_.at(number), [&](Page& page) {
      ++unpacked_;
      EXPECT_TRUE(page.values.empty()) << "left from another page";
      page.memory.assign(bytes, static_cast<std::byte>(number));
      page.values.emplace_back(page.memory);
    });
  }

  ParquetPageCache cache_;
  std::vector<int> keys_ = std::vector<int>(200);
  int unpacked_ = 0;
};

TEST_F(UnitParquetPageCache, a_page_is_unpacked_once_while_it_is_kept) {
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(get(i)->memory.at(7), std::byte(i));
  }
  EXPECT_EQ(unpacked_, 64);
  get(64);  // pushes out the page that was used longest ago
  get(1);
  EXPECT_EQ(unpacked_, 65);
  get(0);
  EXPECT_EQ(unpacked_, 66);
}

TEST_F(UnitParquetPageCache, a_page_stays_as_it_is_while_someone_holds_it) {
  const auto first = get(0);
  for (std::size_t i = 1; i < 200; ++i) get(i);
  EXPECT_EQ(first->memory, Buffer(1000, std::byte{0}));
  EXPECT_EQ(first->values.at(0)->data(), first->memory.data());
}

TEST_F(UnitParquetPageCache, large_pages_push_out_others_and_too_large_ones_are_not_kept) {
  get(0);
  get(1, std::size_t{200} << 20);
  get(0);
  EXPECT_EQ(unpacked_, 2);
  get(2, std::size_t{200} << 20);  // both would be too much
  get(1);
  EXPECT_EQ(unpacked_, 4);
  get(3, std::size_t{257} << 20);
  get(3);
  EXPECT_EQ(unpacked_, 6);
  get(2);
  EXPECT_EQ(unpacked_, 6);
}

TEST_F(UnitParquetPageCache, a_page_that_cannot_be_unpacked_is_not_kept) {
  for (int i = 0; i < 2; ++i) {
    expect_error([&] { cache_.get(&keys_[0], [](Page&) { throw Error("damaged"); }); },
                 {"damaged"});
  }
  EXPECT_EQ(get(0)->values.size(), 1U);
}

// As beyond 1 GiB: images of packed pages, in any order, from several threads.
TEST(UnitParquetPages, images_are_the_same_unpacked_with_their_pages_as_all_at_once) {
  std::vector<testing::ParquetRow> rows;
  for (std::size_t i = 0; i < 500; ++i) rows.push_back({std::string(i * 7 % 400, char(i)), 0});
  const TempDirectory directory;
  const auto path = directory / "a.parquet";
  for (const unsigned way : {0U, 1U, 2U, 3U}) {
    const Buffer file = testing::make_parquet(rows, {.codec = 1,
                                                     .second_version = (way & 2U) != 0,
                                                     .dictionary = (way & 1U) != 0,
                                                     .rows_a_group = 5});
    std::ofstream(path, std::ios::binary) << as_text(file);
    const ParquetFile packed(OpenParquet(path, {}), false);
    const UnpackedBytes work = packed.to_unpack();
    EXPECT_GT(work.any_order, work.in_order) << "pages hold several images";
    EXPECT_LE(work.any_order, 5 * work.in_order) << "and groups five";
    EXPECT_EQ(ParquetFile(OpenParquet(path, {}), true).to_unpack().any_order, 0U);
    ParquetPageCache pages;
    const auto read = [&](std::size_t step) {
      Buffer memory;
      for (std::size_t i = 0; i < 2 * rows.size(); ++i) {
        const std::size_t row = i * step % rows.size();
        EXPECT_EQ(as_text(packed.image(row, memory, pages)), rows[row].image) << row;
      }
    };
    std::vector<std::thread> threads;
    for (const std::size_t step : {1U, 1U, 37U, 499U}) threads.emplace_back(read, step);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace feedrate::formats
