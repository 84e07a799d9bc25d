// Parquet files that are refused, and in which words.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/formats/containers/parquet/parquet_fixture.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

class HostileParquet : public UnitParquet {};

TEST_F(HostileParquet, what_is_not_read_is_named) {
  const std::vector<std::pair<std::int32_t, std::string_view>> codecs = {
      {3, "LZO"}, {4, "BROTLI"}, {5, "LZ4"}, {7, "LZ4_RAW"}, {9, "number 9"}};
  for (const auto& [codec, name] : codecs) {
    expect_error([&] { open_dataset(write(make_parquet(rows(3), {.codec = codec}))); },
                 {"a.parquet", "row group 0", "column image.bytes", name, "SNAPPY"});
  }
  expect_error([&] { open_dataset(write(make_parquet(rows(3), {.encoding = 4}))); },
               {"a.parquet", "row group 0", "image.bytes", "BIT_PACKED", "PLAIN"});
  expect_error([&] { open_dataset(write(make_parquet(rows(3), {.encoding = 5}))); },
               {"a.parquet", "row group 0", "image.bytes", "an encoding of another type"});
}

TEST_F(HostileParquet, labels_without_text_or_of_two_kinds_are_refused) {
  std::vector<ParquetRow> all = rows(4);
  for (ParquetRow& row : all) row.text = "some";
  const ParquetWays texts{.text_labels = true, .rows_a_group = 2};
  Scratch scratch;
  const auto read = [&](std::uint64_t index) {
    return open_dataset(write(make_parquet(all, texts)))->read(index, scratch).label;
  };
  all[3].text = "";
  expect_error([&] { read(3); }, {"a.parquet", "sample 3", "the label is empty text"});
  all[3].text.reset();
  expect_error([&] { read(3); }, {"a.parquet", "sample 3", "the label is missing (null)"});
  EXPECT_EQ(read(2), 0);
  all[3].text = "other";
  write(make_parquet(all, texts), "set/train-00000-of-00002.parquet");
  write(make_parquet(all), "set/train-00001-of-00002.parquet");
  expect_error(
      [&] { open_dataset(temporary_ / "set"); },
      {"train-00001-of-00002.parquet", "has numbers as labels, but train-00000-of-00002", "text"});
}

// A column of numbers, such as a height, must not become the label because the label is something else.
TEST_F(HostileParquet, a_label_of_another_kind_is_not_replaced_by_the_only_number) {
  const fs::path file = write(make_parquet(rows(3), {.image = "label", .label = "height"}));
  expect_error([&] { open_dataset(file); },
               {"a column 'label', but not of labels (whole numbers or text)", "?label=COLUMN",
                "height (int64)"});
  EXPECT_EQ(samples_in(file.string() + "?label=height"), expected(rows(3)));
}

TEST_F(HostileParquet, times_and_decimals_are_no_labels) {
  const std::vector<std::pair<std::int32_t, std::string_view>> meanings = {
      {5, "label (decimal)"}, {6, "label (date)"}, {7, "label (time)"}, {10, "label (timestamp)"}};
  for (const auto& [meaning, shown] : meanings) {
    expect_error([&] { open_dataset(write(make_parquet(rows(3), {.label_meaning = meaning}))); },
                 {"a.parquet", "a column 'label', but not of labels", shown});
  }
  const ParquetWays only{.label_meaning = 9, .label = "created"};
  expect_error([&] { open_dataset(write(make_parquet(rows(3), only))); },
               {"no column of labels", "created (timestamp)"});
}

TEST_F(HostileParquet, two_columns_of_one_name_are_not_guessed_between) {
  const fs::path file = write(make_parquet(rows(3), {.more = "label"}));
  expect_error([&] { open_dataset(file); }, {"a.parquet", "2 columns of the name 'label'"});
  expect_error([&] { open_dataset(file.string() + "?label=label"); }, {"2 columns"});
}

TEST_F(HostileParquet, an_encrypted_column_is_refused_where_it_is_needed) {
  const ParquetWays ways{.encrypted_labels = true, .more = "fine"};
  const fs::path file = write(make_parquet(rows(3), ways));
  expect_error([&] { open_dataset(file); },
               {"a.parquet", "row group 0, column label: is encrypted"});
  EXPECT_EQ(samples_in(file.string() + "?label=fine"), expected(rows(3)));
}

TEST_F(HostileParquet, a_wish_of_another_name_is_refused_by_that_name) {
  const fs::path file = write(make_parquet(rows(3)));
  expect_error([&] { open_dataset(file.string() + "?labl=label"); },
               {"expected ?image=NAME, ?label=NAME", "'labl=label'"});
  const fs::path other = write(make_parquet(rows(3), {.label = "a&b", .more = "fine"}));
  EXPECT_EQ(samples_in(other.string() + "?label=a%26b"), expected(rows(3)));
}

TEST_F(HostileParquet, a_truncated_file_says_so) {
  const Buffer whole = make_parquet(rows(4), {.codec = 1, .dictionary = true});
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const fs::path file = write(Bytes(whole).first(size));
    expect_error([&] { open_dataset(file); }, {"a.parquet"});
  }
}

// Whichever value a byte is changed to: the file is refused, or each sample is read or refused.
TEST_F(HostileParquet, a_forged_byte_crashes_nothing) {
  for (const bool dictionary : {false, true}) {
    for (const std::int32_t codec : {0, 1}) {
      const Buffer whole = make_parquet(rows(4), {.codec = codec,
                                                  .second_version = dictionary,
                                                  .dictionary = dictionary,
                                                  .texts_in = dictionary ? 0 : 6 + codec,
                                                  .numbers_in = dictionary ? 0 : 5 + 4 * codec});
      for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned flip : {0x01U, 0xffU}) {
          Buffer forged = whole;
          forged[at] ^= static_cast<std::byte>(flip);
          const fs::path file = write(forged);
          try {
            const auto dataset = container("parquet").open(file);
            Scratch scratch;
            for (std::uint64_t i = 0; i < dataset->size(); ++i) {
              try {
                dataset->read(i, scratch);
              } catch (const Error& error) {
                EXPECT_NE(std::string_view(error.what()).find("sample"), std::string_view::npos);
              }
            }
          } catch (const Error& error) {
            EXPECT_NE(std::string_view(error.what()).find("a.parquet"), std::string_view::npos);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
