// Sets of files without "-of-" in their names, in every container that has shards.

#include "formats/containers/file_set.h"

#include <gtest/gtest.h>

#include "formats/codec.h"
#include "formats/container.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_parquet.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error, testing::TempDirectory;
using Names = std::vector<std::string>;

class UnitFileSet : public ::testing::Test {
 protected:
  /// A file of `format` with one image of that label.
  void write(std::string_view format, const std::string& name, std::int32_t label) {
    const auto examples = testing::make_examples({4, 4, 3}, 1);
    fs::create_directories((root_ / name).parent_path());
    if (format == "parquet") {
      Buffer png;
      png_codec.encode(examples.front().image, png);
      write_text(root_ / name,
                 as_text(testing::make_parquet({{std::string(as_text(png)), label}})));
      return;
    }
    testing::Example example = examples.front();
    example.label = label;
    testing::write_dataset(container(format), png_codec, root_ / "one", {example});
    const fs::path made = open_dataset(root_ / "one")->place(0).file;
    fs::rename(made, root_ / name);
    fs::remove_all(root_ / "one");
  }
  std::vector<std::int32_t> labels(const std::string& path) {
    const auto dataset = open_dataset(path);
    Scratch scratch;
    std::vector<std::int32_t> all;
    for (std::uint64_t i = 0; i < dataset->size(); ++i)
      all.push_back(dataset->read(i, scratch).label);
    return all;
  }
  using Labels = std::vector<std::int32_t>;

  TempDirectory root_;
};

struct Set {
  std::string_view format;
  Names names;  // in their order
};
const Set sets[] = {
    {"tfrecord", {"00-192x192-798.tfrec", "01-192x192-798.tfrec", "02-192x192-77.tfrec"}},
    {"tfrecord", {"train_000.tfrecord", "train_001.tfrecord", "train_002.tfrecord"}},
    {"tfrecord", {"x-8.record", "x-9.record", "x-10.record"}},
    {"parquet",
     {"part-00000-5b8c-c000.snappy.parquet", "part-00001-5b8c-c000.snappy.parquet",
      "part-00002-5b8c-c000.snappy.parquet"}},
    {"parquet", {"data_0.parquet", "data_1.parquet", "data_2.parquet"}},
    {"parquet", {"train-00000.parquet", "train-00001.parquet", "train-00002.parquet"}},
    {"parquet", {"2024-01-30.parquet", "2024-01-31.parquet", "2024-01-32.parquet"}},
    {"recordio", {"train_0.rec", "train_1.rec", "train_2.rec"}},
    {"webdataset", {"t-0.tar", "t-1.tar", "t-2.tar"}},
};

TEST_F(UnitFileSet, files_that_differ_in_a_number_are_one_dataset) {
  for (const auto& [format, names] : sets) {
    root_.clear();
    for (std::int32_t i = 0; i < 3; ++i) write(format, "set/" + names[i], i);
    EXPECT_EQ(labels((root_ / "set").string()), (Labels{0, 1, 2})) << names[0];
    EXPECT_EQ(labels((root_ / "set" / names[1]).string()), Labels{1}) << names[1];
    fs::remove(root_ / "set" / names[1]);
    expect_error([&] { open_dataset(root_ / "set"); }, {"set: "});
  }
}

TEST_F(UnitFileSet, a_pattern_names_files_and_directories_of_every_container_with_shards) {
  const std::pair<std::string_view, std::string> formats[] = {{"tfrecord", ".tfrecord"},
                                                              {"parquet", ".parquet"},
                                                              {"recordio", ".rec"},
                                                              {"webdataset", ".tar"}};
  for (const auto& [format, ending] : formats) {
    root_.clear();
    for (std::int32_t i = 0; i < 5; ++i) write(format, join("a/x", i, ending), i);
    for (std::int32_t i = 0; i < 2; ++i) write(format, join("b,c/y", i, ending), 5 + i);
    const std::string at = root_.path().string();
    EXPECT_EQ(labels(at + "/a/x{0..4..2}" + ending), (Labels{0, 2, 4})) << format;
    EXPECT_EQ(labels(at + "/a/x{3,1}" + ending), (Labels{3, 1})) << format;
    const fs::path paths[] = {root_ / "b,c", root_ / "a" / ("x2" + ending)};
    const std::string pattern = "{" + at + "/b\\,c," + at + "/a/x2" + ending + "}";
    EXPECT_EQ(labels(pattern), (Labels{5, 6, 2})) << format;
    expect_error([&] { open_dataset(at + "/a/x{0,7}" + ending); },
                 {"x7" + ending + ": No such file"});
    expect_error([&] { open_dataset(at + "/a/x{7,0}" + ending); },
                 {"x7" + ending + ": No such file"});
  }
}

TEST_F(UnitFileSet, several_datasets_are_named_by_their_patterns) {
  for (const char* const name : {"train_0.rec", "train_1.rec", "val_0.rec"})
    write("recordio", name, 0);
  expect_error([&] { open_dataset(root_.path()); },
               {"several datasets, name one: train_{0..1}.rec, val_0.rec"});
}

TEST_F(UnitFileSet, a_column_may_be_named_behind_a_pattern) {
  write("parquet", "x0.parquet", 3);
  write("parquet", "x1.parquet", 4);
  EXPECT_EQ(labels((root_ / "x{0..1}.parquet?label=label").string()), (Labels{3, 4}));
  expect_error([&] { open_dataset(root_ / "x{0..1}.parquet?label=none"); }, {"no column 'none'"});
}

}  // namespace
}  // namespace feedrate::formats
