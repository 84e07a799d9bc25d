#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "formats/container.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_parquet.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::make_image;
using testing::make_parquet;
using testing::ParquetRow;
using testing::ParquetWays;
using testing::TempDirectory;

constexpr std::string_view three_classes =
    R"({"info": {"features": {"label": {"names": ["ant", "bee", "cat"], "_type": "ClassLabel"}}}})";

class UnitParquet : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  static std::vector<ParquetRow> rows(std::uint32_t count, std::uint32_t first = 0) {
    std::vector<ParquetRow> all;
    for (std::uint32_t i = first; i < first + count; ++i) {
      Buffer png;
      const Image image = make_image({3 + i % 2, 4, 3}, i % 5);  // some are alike
      png_codec.encode(image, png);
      all.push_back({std::string(as_text(png)), i % 3, i % 4 == 0 ? "" : join(i, ".png")});
    }
    return all;
  }
  fs::path write(Bytes bytes, const std::string& name = "a.parquet") const {
    fs::create_directories((temporary_ / name).parent_path());
    std::ofstream(temporary_ / name, std::ios::binary) << as_text(bytes);
    return temporary_ / name;
  }
  static std::string line(std::string_view image, std::int64_t label, std::string_view name) {
    return join(label, ' ', name, ' ', image);
  }
  static Lines expected(const std::vector<ParquetRow>& rows) {
    Lines all;
    for (const ParquetRow& row : rows) all.push_back(line(*row.image, row.label, row.name));
    return all;
  }
  static Lines samples_in(const fs::path& path) {
    const auto dataset = open_dataset(path);
    Lines samples;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      samples.push_back(line(as_text(sample.bytes), sample.label, sample.name));
      EXPECT_EQ(sample.label, dataset->label(i, scratch));
      EXPECT_TRUE(dataset->look_ahead(i));
    }
    return samples;
  }

  TempDirectory temporary_;
};

TEST_F(UnitParquet, every_way_to_write_a_row_gives_the_same_sample) {
  const std::vector<ParquetRow> all = rows(11);
  for (const std::int32_t codec : {0, 1, 6}) {
    for (const bool second : {false, true}) {
      for (const bool dictionary : {false, true}) {
        for (const bool wide : {false, true}) {
          for (const std::size_t rows_a_page : {1U, 2U, 100U}) {
            const ParquetWays ways{.codec = codec,
                                   .second_version = second,
                                   .dictionary = dictionary,
                                   .wide_labels = wide,
                                   .checksums = wide,
                                   .rows_a_group = rows_a_page + 3,
                                   .rows_a_page = rows_a_page};
            EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all))
                << codec << second << dictionary << wide << rows_a_page;
          }
        }
      }
    }
  }
}

// A dictionary without entries has no bytes, compressed or not.
TEST_F(UnitParquet, no_image_needs_a_name) {
  std::vector<ParquetRow> all = rows(4);
  for (ParquetRow& row : all) row.name.clear();
  for (const std::int32_t codec : {0, 1, 6}) {
    for (const bool second : {false, true}) {
      const ParquetWays ways{.codec = codec, .second_version = second, .dictionary = true};
      EXPECT_EQ(samples_in(write(make_parquet(all, ways))), expected(all)) << codec << second;
    }
  }
}

TEST_F(UnitParquet, any_shard_may_name_the_classes_and_none_may_contradict) {
  const std::string names(three_classes);
  write(make_parquet(rows(3)), "set/train-00000-of-00003.parquet");
  write(make_parquet(rows(3), {.features = names}), "set/train-00001-of-00003.parquet");
  write(make_parquet(rows(3)), "set/train-00002-of-00003.parquet");
  EXPECT_EQ(open_dataset(temporary_ / "set")->info().class_names.names,
            (Lines{"ant", "bee", "cat"}));
  std::string others = names;
  others.replace(others.find("bee"), 3, "bug");
  write(make_parquet(rows(3), {.features = others}), "set/train-00002-of-00003.parquet");
  expect_error(
      [&] { open_dataset(temporary_ / "set"); },
      {"train-00002-of-00003.parquet: names class 1 'bug'", "train-00001-of-00003.parquet 'bee'"});
  const std::string fewer =
      R"({"info": {"features": {"label": {"names": ["ant"], "_type": "ClassLabel"}}}})";
  write(make_parquet(rows(3), {.features = fewer}), "set/train-00002-of-00003.parquet");
  expect_error([&] { open_dataset(temporary_ / "set"); }, {"names class 1 none", "'bee'"});
}

TEST_F(UnitParquet, a_dataset_knows_its_classes_and_where_its_images_lie) {
  const std::vector<ParquetRow> all = rows(5);
  const fs::path file = write(make_parquet(all, {.features = std::string(three_classes)}));
  const auto dataset = open_dataset(file);
  EXPECT_EQ(dataset->info().format, "parquet");
  EXPECT_EQ(dataset->info().codec, "png");
  EXPECT_EQ(dataset->info().classes, 3U);
  EXPECT_EQ(dataset->info().class_names.names, (Lines{"ant", "bee", "cat"}));
  const std::string content = read_text(file);
  for (std::uint64_t i = 0; i < dataset->size(); ++i) {
    const SamplePlace place = dataset->place(i);
    EXPECT_EQ(content.substr(place.offset, all[i].image->size()), *all[i].image);
  }
  EXPECT_EQ(open_dataset(write(make_parquet(all)))->info().classes, 0U) << "it states none";
}

TEST_F(UnitParquet, shards_of_a_split_are_one_dataset) {
  write(make_parquet(rows(4)), "set/train-00000-of-00002.parquet");
  write(make_parquet(rows(3, 4)), "set/train-00001-of-00002.parquet");
  EXPECT_EQ(samples_in(temporary_ / "set"), expected(rows(7)));
  EXPECT_EQ(samples_in(temporary_ / "set/train-00001-of-00002.parquet"), expected(rows(7)));
  write(make_parquet(rows(2)), "set/test-00000-of-00001-0123456789abcdef.parquet");
  expect_error([&] { open_dataset(temporary_ / "set"); },
               {"several datasets", "test-00000-of-00001-0123456789abcdef.parquet",
                "train-00000-of-00002.parquet"});
  EXPECT_EQ(samples_in(temporary_ / "set/test-00000-of-00001-0123456789abcdef.parquet"),
            expected(rows(2)));
  fs::remove(temporary_ / "set/test-00000-of-00001-0123456789abcdef.parquet");
  fs::remove(temporary_ / "set/train-00000-of-00002.parquet");
  expect_error([&] { open_dataset(temporary_ / "set"); }, {"expected 2 shards", "number 0"});
  write(make_parquet(rows(4)), "hub/0000.parquet");
  write(make_parquet(rows(3, 4)), "hub/0001.parquet");
  EXPECT_EQ(samples_in(temporary_ / "hub"), expected(rows(7)));
}

TEST_F(UnitParquet, shards_may_be_empty) {
  for (const int shard : {0, 2}) {
    write(make_parquet({}), join("some/train-0000", shard, "-of-00003.parquet"));
  }
  write(make_parquet(rows(3)), "some/train-00001-of-00003.parquet");
  EXPECT_EQ(samples_in(temporary_ / "some"), expected(rows(3)));
  write(make_parquet({}), "none/train-00000-of-00001.parquet");
  expect_error([&] { open_dataset(temporary_ / "none"); }, {"none", "holds no rows"});
}

TEST_F(UnitParquet, other_columns_are_named_behind_the_path) {
  const std::vector<ParquetRow> all = rows(4);
  const fs::path file =
      write(make_parquet(all, {.image = "photo", .label = "fine_label", .more = "coarse_label"}));
  expect_error([&] { open_dataset(file); },
               {"a.parquet", "several columns of labels", "photo.bytes (bytes)",
                "photo.path (text)", "fine_label (int64)", "?label=COLUMN"});
  EXPECT_EQ(samples_in(file.string() + "?label=fine_label"), expected(all));
  EXPECT_EQ(samples_in(file.string() + "?image=photo&label=coarse_label"), expected(all));
  expect_error([&] { open_dataset(file.string() + "?label=class"); },
               {"no column 'class' of labels", "coarse_label"});
  expect_error([&] { open_dataset(file.string() + "?image=path"); },
               {"no column 'path' of images"});
}

TEST_F(UnitParquet, texts_are_classes_in_the_order_of_their_bytes) {
  const std::vector<std::string> texts = {"cat", "Zebra", "caf\xc3\xa9", "cat", "ant"};
  const std::vector<std::int64_t> labels = {3, 0, 2, 3, 1};
  std::vector<ParquetRow> all = rows(5);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].text = texts[i];
    all[i].label = labels[i];
  }
  for (const bool dictionary : {false, true}) {
    const ParquetWays ways{.codec = dictionary ? 1 : 0,
                           .dictionary = dictionary,
                           .text_labels = true,
                           .features = std::string(three_classes)};
    const auto some = [&](std::size_t begin, std::size_t end) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    write(make_parquet(some(0, 2), ways), "set/train-00000-of-00003.parquet");
    write(make_parquet({}, ways), "set/train-00001-of-00003.parquet");
    write(make_parquet(some(2, 5), ways), "set/train-00002-of-00003.parquet");
    EXPECT_EQ(samples_in(temporary_ / "set"), expected(all));
    const auto dataset = open_dataset(temporary_ / "set");
    EXPECT_EQ(dataset->info().class_names.names, (Lines{"Zebra", "ant", "caf\xc3\xa9", "cat"}));
    EXPECT_EQ(dataset->info().classes, 4U);
  }
}

TEST_F(UnitParquet, numbers_are_labels_before_texts_and_other_texts_only_by_name) {
  std::vector<ParquetRow> all = rows(3);
  for (ParquetRow& row : all) row.text = join("text ", row.label);
  const std::string file =
      write(make_parquet(all, {.text_labels = true, .label = "caption", .more = "fine"})).string();
  EXPECT_EQ(samples_in(file), expected(all));
  EXPECT_TRUE(open_dataset(file)->info().class_names.names.empty());
  EXPECT_EQ(samples_in(file + "?label=caption"), expected(all));
  EXPECT_EQ(open_dataset(file + "?label=caption")->info().class_names.names,
            (Lines{"text 0", "text 1", "text 2"}));
  write(make_parquet(all, {.text_labels = true, .label = "caption"}));
  expect_error([&] { open_dataset(file); },
               {"a.parquet", "no column that is surely one of labels", "caption (text)"});
}

TEST_F(UnitParquet, it_is_only_read) {
  EXPECT_FALSE(container("parquet").writes());
  EXPECT_TRUE(std::ranges::find(containers(), &container("parquet")) == containers().end());
  expect_error([&] { container_to_write("parquet"); }, {"parquet is only read", "recordio"});
}

TEST_F(UnitParquet, a_missing_image_spoils_no_other) {
  std::vector<ParquetRow> all = rows(5);
  all[1].image.reset();
  for (const std::int32_t codec : {0, 1}) {
    const fs::path file = write(make_parquet(all, {.codec = codec}));
    const auto dataset = open_dataset(file);
    Scratch scratch;
    for (const std::uint64_t i : {0U, 2U, 3U, 4U}) {
      EXPECT_EQ(as_text(dataset->read(i, scratch).bytes), *all[i].image);
    }
    expect_error([&] { dataset->read(1, scratch); },
                 {"a.parquet", "sample 1", "missing", "only its path, '1.png'"});
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      EXPECT_GT(dataset->place(i).offset, 0U) << "of the image or its page";
    }
  }
}

TEST_F(UnitParquet, many_missing_images_at_the_beginning_spoil_no_other) {
  std::vector<ParquetRow> all = rows(60);
  for (std::size_t i = 0; i < 50; ++i) all[i].image.reset();
  const auto dataset = open_dataset(write(make_parquet(all)));
  EXPECT_EQ(dataset->info().codec, "png");
  Scratch scratch;
  EXPECT_EQ(as_text(dataset->read(59, scratch).bytes), *all[59].image);
}

TEST_F(UnitParquet, a_label_that_cannot_be_one_spoils_no_other) {
  struct Case {
    std::int64_t label;
    bool labelled;
    ParquetWays ways;
    std::string_view problem;
  };
  const std::vector<Case> cases = {
      {0, false, {.optional_labels = true}, "sample 1 (row 1, byte "},
      {0, false, {.dictionary = true, .optional_labels = true}, "the label is missing (null)"},
      {std::int64_t{1} << 31, true, {}, "the label is 2147483648"},
      {-(std::int64_t{1} << 31), true, {}, "the label is -2147483648"},
      {-3, true, {.label_meaning = 14}, "the label is 18446744073709551613"},
      {3'000'000'000, true, {.wide_labels = false, .label_meaning = 13}, "the label is 3000000000"},
      {3'000'000'000,
       true,
       {.wide_labels = false, .label_meaning = 13, .newer_meaning = true},
       "the label is 3000000000"}};
  for (const Case& each : cases) {
    std::vector<ParquetRow> all = rows(5);
    all[1].label = each.label;
    all[1].labelled = each.labelled;
    const auto dataset = open_dataset(write(make_parquet(all, each.ways)));
    Scratch scratch;
    for (const std::uint64_t i : {0U, 2U, 3U, 4U}) {
      EXPECT_EQ(dataset->read(i, scratch).label, all[i].label);
    }
    expect_error([&] { dataset->read(1, scratch); }, {"a.parquet", "sample 1", each.problem});
    expect_error([&] { dataset->label(1, scratch); }, {"a.parquet", "sample 1", each.problem});
  }
}

TEST_F(UnitParquet, a_checksum_is_held_where_there_is_one) {
  Buffer bytes = make_parquet(rows(5), {.checksums = true});
  const std::string image = *rows(1)[0].image;
  const std::size_t at = as_text(bytes).find(image) + image.size() - 1;
  bytes[at] ^= std::byte{1};
  std::vector<std::string> found;
  open_dataset(write(bytes))->audit([&](const Finding& each) {
    found.push_back(join(each.place, ": ", each.problem));
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("expected the CRC"), std::string::npos) << found[0];
}

class HostileParquet : public UnitParquet {};

TEST_F(HostileParquet, what_is_not_read_is_named) {
  const std::vector<std::pair<std::int32_t, std::string_view>> codecs = {
      {3, "LZO"}, {4, "BROTLI"}, {5, "LZ4"}, {7, "LZ4_RAW"}, {9, "number 9"}};
  for (const auto& [codec, name] : codecs) {
    expect_error([&] { open_dataset(write(make_parquet(rows(3), {.codec = codec}))); },
                 {"a.parquet", "row group 0", "column image.bytes", name, "SNAPPY"});
  }
  expect_error([&] { open_dataset(write(make_parquet(rows(3), {.encoding = 6}))); },
               {"a.parquet", "row group 0", "image.bytes", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"});
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
               {"expected ?image=COLUMN, ?label=COLUMN", "'labl=label'"});
}

TEST_F(HostileParquet, a_truncated_file_says_so) {
  const Buffer whole = make_parquet(rows(4), {.codec = 1, .dictionary = true});
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const fs::path file = write(Bytes(whole).first(size));
    expect_error([&] { open_dataset(file); }, {"a.parquet"});
  }
}

// Whatever a byte becomes, the file is refused, or its samples can be read or are refused.
TEST_F(HostileParquet, a_forged_byte_crashes_nothing) {
  for (const bool dictionary : {false, true}) {
    for (const std::int32_t codec : {0, 1}) {
      const Buffer whole = make_parquet(
          rows(4), {.codec = codec, .second_version = dictionary, .dictionary = dictionary});
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
