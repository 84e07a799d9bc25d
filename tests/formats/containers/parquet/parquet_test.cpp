#include <gtest/gtest.h>

#include <algorithm>

#include "tests/formats/containers/parquet/parquet_fixture.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

constexpr std::string_view three_classes =
    R"({"info": {"features": {"label": {"names": ["ant", "bee", "cat"], "_type": "ClassLabel"}}}})";

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

}  // namespace
}  // namespace feedrate::formats
