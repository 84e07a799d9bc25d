// What DuckDB, Spark and parquet-java write beyond plain values: encodings by differences, booleans, bare pages, lists.

#include "formats/codec.h"
#include "tests/formats/containers/parquet/parquet_fixture.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

TEST_F(UnitParquet, values_written_by_their_differences_are_those_of_plain_pages) {
  const auto all = rows(300);
  for (const std::int32_t texts : {6, 7}) {
    for (const std::int32_t numbers : {5, 9}) {
      for (const bool second : {false, true}) {
        for (const bool wide : {false, true}) {
          const ParquetWays ways{.codec = wide ? 1 : 0,
                                 .second_version = second,
                                 .wide_labels = wide,
                                 .optional_labels = second,
                                 .rows_a_group = 280,
                                 .rows_a_page = 270,
                                 .texts_in = texts,
                                 .numbers_in = numbers};
          EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all))
              << texts << ' ' << numbers << ' ' << second << ' ' << wide;
        }
      }
    }
  }
}

TEST_F(UnitParquet, labels_by_differences_may_leap) {
  auto all = rows(140);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].label = i % 3 == 0 ? 0x7fff'ffff : static_cast<std::int64_t>(i);
  for (const bool wide : {false, true}) {
    const ParquetWays ways{
        .wide_labels = wide, .rows_a_group = 140, .rows_a_page = 140, .numbers_in = 5};
    EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all)) << wide;
  }
}

TEST_F(UnitParquet, pages_of_missing_values_alone_need_not_be_packed) {
  std::vector<ParquetRow> all = rows(6);
  for (std::size_t i = 0; i < 4; ++i) all[i].name.clear();  // the first page's
  for (const std::int32_t codec : {1, 2, 6}) {
    if (codec == 2) continue;  // this writer makes no gzip
    const ParquetWays ways{
        .codec = codec, .second_version = true, .rows_a_group = 6, .bare_empty_pages = true};
    EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all)) << codec;
  }
  for (ParquetRow& row : all) row.name.clear();
  const ParquetWays none{.codec = 1, .second_version = true, .bare_empty_pages = true};
  EXPECT_EQ(samples_in(write(make_parquet(all, none))), expected(all));
}

TEST_F(UnitParquet, a_boolean_is_a_label_where_it_is_named_like_one) {
  std::vector<ParquetRow> all = rows(20);
  for (ParquetRow& row : all) row.label %= 2;
  for (const bool second : {false, true}) {
    const ParquetWays ways{
        .second_version = second, .rows_a_group = 20, .rows_a_page = 11, .boolean_labels = true};
    EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all)) << second;
    ParquetWays other = ways;
    other.label = "is_cat";
    const fs::path file = write(make_parquet(all, other));
    expect_error([&] { open_dataset(file); }, {"no column that is surely one", "is_cat (boolean)"});
    EXPECT_EQ(samples_in(file.string() + "?label=is_cat"), expected(all));
  }
}

TEST_F(UnitParquet, a_list_of_one_image_is_an_image) {
  const auto all = rows(7);
  for (const bool second : {false, true}) {
    for (const std::int32_t codec : {0, 1}) {
      const ParquetWays ways{
          .codec = codec, .second_version = second, .image = "images", .image_lists = true};
      EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all)) << second << codec;
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
