#include <gtest/gtest.h>

#include "converters/archive.h"
#include "converters/source.h"
#include "tests/converters/make_archive.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

struct MnistContent {
  StreamInfo info;
  std::vector<int> labels;
  std::string pixels;
  bool operator==(const MnistContent& other) const {
    return labels == other.labels && pixels == other.pixels;
  }
};

MnistContent read_all(const std::vector<fs::path>& inputs, std::string_view split) {
  const auto stream = source("mnist").open(inputs, split);
  MnistContent content{stream->info(), {}, {}};
  Sample sample;
  while (stream->next(sample)) {
    EXPECT_EQ(sample.codec, &raw_codec);
    EXPECT_EQ(sample.bytes.size(), sample.shape.bytes());
    content.labels.push_back(sample.label);
    content.pixels += as_text(sample.bytes);
  }
  return content;
}

const Entries four = {{"train-images-idx3-ubyte", idx_images(30, 5, 6, 1)},
                      {"train-labels-idx1-ubyte", idx_labels(30)},
                      {"t10k-images-idx3-ubyte", idx_images(8, 5, 6, 2)},
                      {"t10k-labels-idx1-ubyte", idx_labels(8)}};

MnistContent expected_train() {
  MnistContent content;
  content.pixels = idx_images(30, 5, 6, 1).substr(16);
  for (const char label : idx_labels(30).substr(8)) content.labels.push_back(label);
  return content;
}

// Every packaging of the same files gives the same samples.
TEST(UnitMnist, directories_archives_and_files_give_the_same_samples) {
  const TempDirectory directory;
  const auto plain = directory / "plain", gz = directory / "gz", dots = directory / "dots";
  for (const auto& path : {plain, gz, dots}) fs::create_directory(path);
  Entries zipped, prefixed;
  for (const auto& [name, content] : four) {
    write(plain / name, content);
    write(gz / (name + ".gz"), compressed(content));
    fs::create_directories(directory / "7-zip" / name);
    write(directory / "7-zip" / name / name, content);
    fs::create_directories(directory / "root/MNIST/raw");
    write(directory / "root/MNIST/raw" / name, content);
    std::string dotted = name;
    dotted[dotted.find("-idx")] = '.';
    write(dots / dotted, content);
    zipped.emplace_back(name + ".gz", compressed(content));
    prefixed.emplace_back("gzip/emnist-letters-" + name + ".gz", compressed(content));
  }
  const std::vector<std::vector<fs::path>> packagings = {
      {plain},
      {gz},
      {dots},
      {directory / "7-zip"},
      {directory / "root"},
      {directory / "root/MNIST"},
      {directory / "root/MNIST/raw"},
      {write(directory / "m.tar", tar(four))},
      {write(directory / "m.tar.gz", tar_gz(four))},
      {write(directory / "z.tar", tar(zipped))},
      {write(directory / "z.zip", make_archive(zipped, {ARCHIVE_FORMAT_ZIP}))},
      {write(directory / "e.zip", make_archive(prefixed, {ARCHIVE_FORMAT_ZIP}))},
      {gz / "train-labels-idx1-ubyte.gz", gz / "train-images-idx3-ubyte.gz"},
      {write(directory / "a", four[0].second),
       write(directory / "b.gz", compressed(four[1].second))},
      {directory / "b.gz", directory / "a"}};
  for (const auto& inputs : packagings) {
    SCOPED_TRACE(inputs.front());
    const MnistContent content = read_all(inputs, "train");
    EXPECT_EQ(content, expected_train());
    EXPECT_EQ(content.info.size, 30U);
    EXPECT_EQ(content.info.shape, (Shape{5, 6, 1}));
    EXPECT_EQ(content.info.classes, 10U);
  }
  EXPECT_EQ(read_all({gz}, "test").labels.size(), 8U);
}

TEST(UnitMnist, labels_beyond_nine_make_more_classes) {
  const TempDirectory directory;
  const auto images = write(directory / "i", idx_images(100, 4, 4));
  const auto labels = write(directory / "l", idx_labels(100, 47));
  EXPECT_EQ(source("mnist").open(std::vector{images, labels}, "train")->info().classes, 47U);
}

TEST(UnitMnist, labels_that_are_not_those_of_fashion_mnist_have_no_names) {
  const TempDirectory directory;
  write_mnist(directory.path(), 3, 2);
  const auto stream = source("mnist").open(std::vector{directory.path()}, "train");
  EXPECT_TRUE(stream->info().class_names.names.empty());
  EXPECT_EQ(stream->info().origin, "");
}

TEST(UnitMnist, of_a_file_there_plain_and_compressed_one_is_taken) {
  const TempDirectory directory;
  for (const auto& [name, content] : four) {
    write(directory / name, content);
    write(directory / (name + ".gz"), compressed(content));
  }
  EXPECT_EQ(read_all({directory.path()}, "train"), expected_train());
}

TEST(UnitMnist, files_names_what_the_split_reads) {
  const TempDirectory directory;
  write_mnist(directory.path(), 3, 2);
  EXPECT_EQ(source("mnist").files(std::vector{directory.path()}, "test"),
            (std::vector{directory / "t10k-images-idx3-ubyte.gz",
                         directory / "t10k-labels-idx1-ubyte.gz"}));
}

TEST(HostileMnist, several_sets_are_listed_not_guessed_among) {
  const TempDirectory directory;
  for (const char* set : {"emnist-letters-", "emnist-digits-"}) {
    for (const auto& [name, content] : four) write(directory / (set + name), content);
  }
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"several sets", "emnist-letters-train-images", "emnist-digits-train-images"});
}

TEST(HostileMnist, sets_of_torchvision_beside_each_other_are_listed) {
  const TempDirectory directory;
  for (const char* set : {"MNIST", "KMNIST"}) {
    fs::create_directories(directory / set / "raw");
    for (const auto& [name, content] : four) write(directory / set / "raw" / name, content);
  }
  expect_error(
      [&] { read_all({directory.path()}, "train"); },
      {"several sets have a train split", "KMNIST/raw/train-images", "/MNIST/raw/train-images"});
}

TEST(HostileMnist, a_missing_part_is_named_with_what_is_there) {
  const TempDirectory directory;
  write(directory / "train-images-idx3-ubyte.gz", compressed(idx_images(3, 4, 4)));
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"no pair", "labels-idx1-ubyte", "found train-images-idx3-ubyte.gz"});
  expect_error([&] { read_all({directory.path()}, "test"); }, {"no pair", "t10k", "test split"});
  expect_error([&] { read_all({directory / "nothing"}, "train"); }, {"nothing", "No such file"});
}

TEST(HostileMnist, counts_that_differ_name_both_files) {
  const TempDirectory directory;
  write_mnist(directory.path(), 30, 5);
  write(directory / "train-labels-idx1-ubyte.gz", compressed(idx_labels(29)));
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"train-images-idx3-ubyte.gz", "30 images", "train-labels-idx1-ubyte.gz", "29"});
}

TEST(HostileMnist, a_label_file_shorter_or_longer_than_its_header_is_refused) {
  const TempDirectory directory;
  write_mnist(directory.path(), 30, 5);
  const auto labels = directory / "train-labels-idx1-ubyte.gz";
  write(labels, compressed(idx_labels(30).substr(0, 20)));
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"train-labels", "expected 30 labels, found 12", "truncated"});
  write(labels, compressed(idx_labels(30) + "x"));
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"train-labels", "more than the 30 bytes"});
}

TEST(HostileMnist, images_cut_off_or_followed_by_more_are_refused) {
  const TempDirectory directory;
  write_mnist(directory.path(), 30, 5);
  const auto images = directory / "train-images-idx3-ubyte.gz";
  const std::string whole = idx_images(30, 28, 28);
  for (const std::size_t cut : {std::size_t{17}, std::size_t{784 + 16}, whole.size() - 1}) {
    write(images, compressed(whole.substr(0, cut)));
    expect_error([&] { read_all({directory.path()}, "train"); },
                 {"train-images", "of 30", "byte " + std::to_string(cut), "truncated"});
  }
  write(images, compressed(whole + "x"));
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"train-images", "byte 23536", "bytes follow"});
}

TEST(HostileMnist, every_gz_cut_anywhere_is_an_error) {
  const TempDirectory directory;
  write_mnist(directory.path(), 6, 2, 8);
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}) {
    const auto good =
        compressed(std::string(name).find("images") != std::string::npos ? idx_images(6, 8, 8)
                                                                         : idx_labels(6));
    for (std::size_t cut = 0; cut < good.size(); cut += 1 + cut / 50) {
      write(directory / name, good.substr(0, cut));
      expect_error([&] { read_all({directory.path()}, "train"); }, {name});
    }
    write(directory / name, good);
  }
  EXPECT_EQ(read_all({directory.path()}, "train").labels.size(), 6U);
}

TEST(HostileMnist, swapped_files_are_called_swapped) {
  const TempDirectory directory;
  write_mnist(directory.path(), 3, 2);
  fs::copy_file(directory / "train-labels-idx1-ubyte.gz", directory / "train-images-idx3-ubyte.gz",
                fs::copy_options::overwrite_existing);
  expect_error([&] { read_all({directory.path()}, "train"); },
               {"expected images, found labels", "swapped"});
}

TEST(InteropMnist, the_published_files_hold_what_the_world_knows) {
  const auto directory = data_file("mnist");
  if (!directory) GTEST_SKIP() << "no MNIST files on this machine";
  const MnistContent train = read_all({*directory}, "train");
  EXPECT_EQ(train.info.size, 60000U);
  EXPECT_EQ(train.info.shape, (Shape{28, 28, 1}));
  EXPECT_EQ(std::vector(train.labels.begin(), train.labels.begin() + 5),
            (std::vector{5, 0, 4, 1, 9}));
  EXPECT_EQ(train.labels.size(), 60000U);
  const MnistContent test = read_all({*directory}, "test");
  EXPECT_EQ(test.labels.size(), 10000U);
  EXPECT_EQ(std::vector(test.labels.begin(), test.labels.begin() + 5),
            (std::vector{7, 2, 1, 0, 4}));
}

TEST(InteropMnist, fashion_mnist_is_known_by_its_labels_however_they_are_compressed) {
  const fs::path debian = "/usr/share/datasets/fashion-mnist";
  if (!fs::exists(debian)) GTEST_SKIP() << "no Fashion-MNIST on this machine";
  const TempDirectory directory;
  for (const std::string split : {"train", "t10k"}) {
    Archive labels(debian / (split + "-labels-idx1-ubyte.gz"));
    ASSERT_TRUE(labels.next());
    Buffer content;
    labels.read_all(content, 1 << 20);
    const auto plain =
        write(directory / (split + "-labels-idx1-ubyte"), std::string(as_text(content)));
    const auto images = debian / (split + "-images-idx3-ubyte.gz");
    for (const auto& inputs : {std::vector{debian}, std::vector{images, plain}}) {
      const auto stream = source("mnist").open(inputs, split == "train" ? "train" : "test");
      EXPECT_EQ(stream->info().origin, "fashion-mnist");
      ASSERT_EQ(stream->info().class_names.names.size(), 10U);
      EXPECT_EQ(stream->info().class_names.names[0], "T-shirt/top");
      EXPECT_EQ(stream->info().class_names.names[9], "Ankle boot");
    }
  }
}

}  // namespace
}  // namespace feedrate::converters
