#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/container.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::expect_error;
using testing::make_image;
using testing::TempDirectory;

/// A value of a column, as MDS encodes it.
std::string integer(std::int64_t value, std::size_t bytes = 8) {
  return {reinterpret_cast<const char*>(&value), bytes};
}
std::string png(std::uint32_t number) {
  Buffer encoded;
  png_codec.encode(make_image({3 + number, 4, 3}, number), encoded);
  return std::string(as_text(encoded));
}

class UnitMds : public ::testing::Test {
 protected:
  using Row = std::vector<std::string>;
  struct Column {
    std::string name, encoding;
    std::optional<std::uint32_t> size;
  };

  static std::string sample(const std::vector<Column>& columns, const Row& row) {
    std::string sizes, values;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].size) sizes += integer(static_cast<std::int64_t>(row[i].size()), 4);
      values += row[i];
    }
    return sizes + values;
  }
  static std::string shard(const std::vector<Column>& columns, const std::vector<Row>& rows) {
    const std::string noted = R"({"note": "of the writer"})";
    std::string offsets, samples;
    std::size_t at = 4 * (rows.size() + 2) + noted.size();
    for (const Row& row : rows) {
      offsets += integer(static_cast<std::int64_t>(at + samples.size()), 4);
      samples += sample(columns, row);
    }
    offsets += integer(static_cast<std::int64_t>(at + samples.size()), 4);
    return integer(static_cast<std::int64_t>(rows.size()), 4) + offsets + noted + samples;
  }
  static json facts(const std::vector<Column>& columns, const std::string& name, std::size_t bytes,
                    std::size_t samples) {
    json of{{"format", "mds"}, {"samples", samples}, {"compression", nullptr}, {"version", 2}};
    of["raw_data"] = {{"basename", name}, {"bytes", bytes}, {"hashes", json::object()}};
    for (const char* key : {"column_names", "column_encodings", "column_sizes"})
      of[key] = json::array();
    for (const Column& column : columns) {
      of["column_names"].push_back(column.name);
      of["column_encodings"].push_back(column.encoding);
      of["column_sizes"].push_back(column.size ? json(*column.size) : json());
    }
    return of;
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(temporary_ / name, std::ios::binary) << content;
  }
  /// A shard for each list of rows.
  void write_set(const std::vector<Column>& columns, const std::vector<std::vector<Row>>& shards) {
    json index{{"version", 2}, {"shards", json::array()}};
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::string name = join("shard.0000", i, ".mds"), content = shard(columns, shards[i]);
      write(name, content);
      index["shards"].push_back(facts(columns, name, content.size(), shards[i].size()));
    }
    write("index.json", index.dump());
  }
  std::vector<std::string> samples_in(const fs::path& path) {
    const auto dataset = open_dataset(path);
    std::vector<std::string> all;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      all.push_back(join(sample.label, ' ', sample.name, ' ', sample.codec->name(), ' ',
                         as_text(sample.bytes)));
      EXPECT_TRUE(dataset->look_ahead(i));
    }
    return all;
  }

  TempDirectory temporary_;
  const std::vector<Column> usual_ = {
      {"filename", "str", {}}, {"image", "png", {}}, {"label", "int", 8}};
};

TEST_F(UnitMds, samples_of_all_shards_are_read_in_order) {
  write_set(usual_,
            {{{"a", png(0), integer(3)}, {"bc", png(1), integer(0)}}, {{"", png(2), integer(7)}}});
  const std::vector<std::string> expected = {"3 a png " + png(0), "0 bc png " + png(1),
                                             "7  png " + png(2)};
  EXPECT_EQ(samples_in(temporary_.path()), expected);
  EXPECT_EQ(samples_in(temporary_ / "index.json"), expected);
  EXPECT_EQ(open_dataset(temporary_.path())->info().format, "mds");
}

TEST_F(UnitMds, shards_may_be_empty) {
  write_set(usual_, {{}, {{"a", png(0), integer(3)}}, {}, {{"b", png(1), integer(4)}}});
  EXPECT_EQ(samples_in(temporary_.path()),
            (std::vector<std::string>{"3 a png " + png(0), "4 b png " + png(1)}));
}

TEST_F(UnitMds, other_columns_are_named_behind_the_path) {
  const std::vector<Column> columns = {
      {"photo", "png", {}}, {"thumb", "png", {}}, {"fine", "int", 8}, {"coarse", "int16", 2}};
  write_set(columns, {{{png(0), png(1), integer(40), integer(4, 2)}}});
  const std::string set = temporary_.path().string();
  expect_error([&] { open_dataset(set); },
               {"shard.00000.mds", "several columns of images", "?image=COLUMN names it",
                "fine (int)", "coarse (int16)"});
  expect_error([&] { open_dataset(set + "?image=photo"); }, {"several columns of labels"});
  expect_error([&] { open_dataset(set + "?image=photo&label=thumb"); },
               {"no column 'thumb' of labels", "?label=COLUMN names it"});
  expect_error([&] { open_dataset(set + "?labels=fine"); }, {"found 'labels=fine'"});
  EXPECT_EQ(samples_in(set + "?image=photo&label=fine"),
            std::vector<std::string>{"40  png " + png(0)});
  EXPECT_EQ(samples_in(set + "/index.json?image=thumb&label=coarse"),
            std::vector<std::string>{"4  png " + png(1)});
}

TEST_F(UnitMds, pixels_may_lie_there_as_they_are) {
  const Image grey = make_image({2, 5, 1}, 1), colour = make_image({3, 2, 3}, 2);
  const auto pil = [](const Image& image, const std::string& mode) {
    return integer(image.shape.width, 4) + integer(image.shape.height, 4) +
           integer(static_cast<std::int64_t>(mode.size()), 4) + mode +
           std::string(as_text(image.pixels));
  };
  const std::vector<Column> columns = {{"x", "pil", {}}, {"y", "uint16", 2}};
  write_set(columns, {{{pil(grey, "L"), integer(65535, 2)}, {pil(colour, "RGB"), integer(1, 2)}}});
  EXPECT_EQ(samples_in(temporary_.path()),
            (std::vector<std::string>{join("65535  raw ", as_text(grey.pixels)),
                                      join("1  raw ", as_text(colour.pixels))}));
  EXPECT_EQ(open_dataset(temporary_.path())->info().shape, (Shape{2, 5, 1}));
  write_set(columns, {{{pil(colour, "RGB"), integer(0, 2)}, {pil(colour, "P"), integer(0, 2)}}});
  Scratch scratch;
  expect_error([&] { open_dataset(temporary_.path())->read(1, scratch); },
               {"shard.00000.mds", "sample 1", "mode 'P'"});
}

// "café" behind "cat": by bytes, not by letters. The last shard may hold the class that comes first.
TEST_F(UnitMds, texts_are_classes_in_the_order_of_their_bytes) {
  const std::vector<Column> columns = {{"class", "str", {}}, {"image", "png", {}}};
  write_set(columns,
            {{{"cat", png(0)}, {"caf\xc3\xa9", png(1)}}, {}, {{"cat", png(2)}, {"Zebra", png(3)}}});
  EXPECT_EQ(samples_in(temporary_.path()),
            (std::vector<std::string>{"2  png " + png(0), "1  png " + png(1), "2  png " + png(2),
                                      "0  png " + png(3)}));
  const auto dataset = open_dataset(temporary_.path());
  EXPECT_EQ(dataset->info().class_names.names,
            (std::vector<std::string>{"Zebra", "caf\xc3\xa9", "cat"}));
  EXPECT_EQ(dataset->info().classes, 3U);
}

TEST_F(UnitMds, numbers_are_labels_before_texts_and_other_texts_only_by_name) {
  const std::vector<Column> columns = {
      {"class", "str", {}}, {"image", "png", {}}, {"caption", "str", {}}, {"y", "int8", 1}};
  write_set(columns, {{{"b", png(0), "some", integer(9, 1)}, {"a", png(1), "any", integer(7, 1)}}});
  const std::string set = temporary_.path().string();
  EXPECT_EQ(samples_in(set), (std::vector<std::string>{"9  png " + png(0), "7  png " + png(1)}));
  EXPECT_EQ(samples_in(set + "?label=class"),
            (std::vector<std::string>{"1  png " + png(0), "0  png " + png(1)}));
  EXPECT_EQ(open_dataset(set + "?label=caption")->info().class_names.names,
            (std::vector<std::string>{"any", "some"}));
  write_set({{"caption", "str", {}}, {"image", "png", {}}}, {{{"some", png(0)}}});
  expect_error([&] { open_dataset(set); }, {"no column that is surely one of labels",
                                            "?label=COLUMN names it", "caption (str)"});
}

TEST(HostileMds, a_directory_without_an_index_of_shards_is_none) {
  const TempDirectory temporary;
  EXPECT_FALSE(container("mds").knows(temporary.path()));
}

class HostileMdsFiles : public UnitMds {};

TEST_F(HostileMdsFiles, what_is_compressed_or_lies_elsewhere_is_refused) {
  json of = facts(usual_, "shard.00000.mds", 10, 1);
  const auto index = [&] { write("index.json", json{{"version", 2}, {"shards", {of}}}.dump()); };
  of["compression"] = "zstd:3";
  index();
  expect_error([&] { open_dataset(temporary_.path()); }, {"index.json", "zip_data"});
  of["zip_data"] = {{"basename", "/etc/passwd"}, {"bytes", 10}};
  index();
  expect_error([&] { open_dataset(temporary_.path()); }, {"index.json", "'/etc/passwd'"});
  of["zip_data"]["basename"] = "shard.00000.mds.zstd";
  index();
  expect_error([&] { open_dataset(temporary_.path()); },
               {"shard.00000.mds.zstd", "zstd:3", "feedrate convert dataset"});
  of = facts(usual_, "../shard.00000.mds", 10, 1);
  index();
  expect_error([&] { open_dataset(temporary_.path()); }, {"index.json", "'../shard.00000.mds'"});
  of = facts(usual_, "a/../../shard.00000.mds", 10, 1);
  index();
  expect_error([&] { open_dataset(temporary_.path()); },
               {"index.json", "'a/../../shard.00000.mds'"});
  of = facts({{"a", "int", 8}, {"b", "json", {}}}, "shard.00000.mds", 10, 1);
  index();
  write("shard.00000.mds", "0123456789");
  expect_error([&] { open_dataset(temporary_.path()); },
               {"shard.00000.mds", "no column of images", "a (int), b (json)"});
  // An id must not become the label because the label is of another kind.
  of = facts({{"image", "png", {}}, {"label", "json", {}}, {"id", "int", 8}}, "shard.00000.mds", 10,
             1);
  index();
  expect_error(
      [&] { open_dataset(temporary_.path()); },
      {"shard.00000.mds", "a column 'label', but not of labels", "label (json), id (int)"});
  of = facts(usual_, "shard.00000.mds", 10, 1);
  of.erase("column_sizes");
  index();
  expect_error([&] { open_dataset(temporary_.path()); }, {"index.json", "column_sizes"});
}

TEST_F(HostileMdsFiles, a_label_without_text_is_damage_of_its_sample_alone) {
  write_set({{"label", "str", {}}, {"image", "png", {}}},
            {{{"b", png(0)}, {"", png(1)}, {"a", png(2)}}});
  const auto dataset = open_dataset(temporary_.path());
  EXPECT_EQ(dataset->info().class_names.names, (std::vector<std::string>{"a", "b"}));
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).label, 1);
  EXPECT_EQ(dataset->read(2, scratch).label, 0);
  expect_error([&] { dataset->read(1, scratch); },
               {"shard.00000.mds", "sample 1", "the label is empty text"});
}

TEST_F(HostileMdsFiles, shards_with_labels_of_two_kinds_or_names_are_refused) {
  const auto set_of = [&](const Column& second, const std::string& value) {
    json index{{"version", 2}, {"shards", json::array()}};
    const Column columns[] = {{"label", "str", {}}, second};
    for (const Column& label : columns) {
      const std::vector<Column> own = {label, {"image", "png", {}}};
      const std::string name = join("shard.0000", index["shards"].size(), ".mds");
      const std::string content = shard(own, {{index["shards"].empty() ? "a" : value, png(0)}});
      write(name, content);
      index["shards"].push_back(facts(own, name, content.size(), 1));
    }
    write("index.json", index.dump());
  };
  set_of({"label", "int", 8}, integer(0));
  expect_error([&] { open_dataset(temporary_.path()); },
               {"shard.00001.mds", "has int as labels, but shard.00000.mds str"});
  set_of({"class", "str", {}}, "a");
  expect_error([&] { open_dataset(temporary_.path()); },
               {"shard.00001.mds", "has other columns than shard.00000.mds"});
}

// Whatever a byte of a shard becomes, it is refused, or its samples can be read or are refused.
TEST_F(HostileMdsFiles, a_forged_byte_or_a_cut_crashes_nothing) {
  const std::vector<Row> rows = {{"a", png(0), integer(3)}, {"b", png(1), integer(0)}};
  const std::string whole = shard(usual_, rows);
  const json of = facts(usual_, "shard.00000.mds", whole.size(), rows.size());
  write("index.json", json{{"version", 2}, {"shards", {of}}}.dump());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned flip : {0x01U, 0xffU}) {
      std::string forged = whole;
      forged[at] = static_cast<char>(static_cast<unsigned char>(forged[at]) ^ flip);
      write("shard.00000.mds", forged);
      try {
        const auto dataset = open_dataset(temporary_.path());
        Scratch scratch;
        for (std::uint64_t i = 0; i < dataset->size(); ++i) {
          try {
            dataset->read(i, scratch);
          } catch (const Error& error) {
            EXPECT_NE(std::string_view(error.what()).find("sample"), std::string_view::npos);
          }
        }
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("shard.00000.mds"), std::string_view::npos);
      }
    }
    write("shard.00000.mds", whole.substr(0, at));
    expect_error([&] { open_dataset(temporary_.path()); }, {"shard.00000.mds", "bytes"});
  }
}

}  // namespace
}  // namespace feedrate::formats
