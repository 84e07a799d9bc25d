#include <gtest/gtest.h>

#include <map>

#include "converters/archive.h"
#include "converters/source.h"
#include "formats/digests/digest.h"
#include "tests/converters/make_cifar.h"
#include "tests/support/data.h"
#include "tests/support/from_hex.h"
#include "tests/support/pickles.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;
using Inputs = std::vector<fs::path>;

constexpr CifarPackaging packagings[] = {CifarPackaging::binary, CifarPackaging::python};

struct Content {
  std::vector<int> labels;
  std::vector<float> all_labels;
  std::string pixels;
  bool operator==(const Content&) const = default;
};

Content read_all(SampleStream& stream) {
  Content content;
  Sample sample;
  while (stream.next(sample)) {
    EXPECT_EQ(sample.codec, &raw_codec);
    EXPECT_EQ(sample.order, PixelOrder::planar_rgb);
    EXPECT_EQ(sample.shape, cifar_shape);
    EXPECT_TRUE(sample.name.empty());
    content.labels.push_back(sample.label);
    content.all_labels.insert(content.all_labels.end(), sample.labels.begin(), sample.labels.end());
    content.pixels += as_text(sample.bytes);
  }
  EXPECT_EQ(stream.info().size, content.labels.size());
  return content;
}

/// What cifar_entries made for these batches.
Content expected(const CifarLayout& layout, std::string_view split) {
  Content content;
  const Entries entries = cifar_entries(layout, CifarPackaging::binary);
  const auto batches = layout.batches(split);
  const std::size_t first = split == "train" ? 0 : layout.train.size();
  for (std::size_t batch = first; batch < first + batches.size(); ++batch) {
    const std::string& bytes = entries[batch].second;
    for (std::size_t at = 0; at < bytes.size(); at += layout.record_bytes()) {
      const std::size_t pixels = at + layout.label_bytes();
      content.labels.push_back(bytes[pixels - 1]);
      if (layout.coarse_classes != 0) {
        content.all_labels.push_back(bytes[pixels - 1]);
        content.all_labels.push_back(bytes[at]);
      }
      content.pixels += bytes.substr(pixels, cifar_image_bytes);
    }
  }
  return content;
}

class UnitCifar : public ::testing::TestWithParam<const CifarLayout*> {
 protected:
  const CifarLayout& layout() const { return *GetParam(); }
  const Source& cifar() const { return source(layout().source); }
  std::string directory(CifarPackaging packaging) const {
    return std::string(layout().directories[static_cast<std::size_t>(packaging)]);
  }
  std::string archive(CifarPackaging packaging) const {
    return std::string(layout().archives[static_cast<std::size_t>(packaging)]);
  }

  void expect_content(const Inputs& inputs) const {
    SCOPED_TRACE(inputs.front());
    for (const char* split : {"train", "test"}) {
      const auto stream = cifar().open(inputs, split);
      EXPECT_EQ(read_all(*stream), expected(layout(), split));
      EXPECT_EQ(stream->info().shape, cifar_shape);
      EXPECT_EQ(stream->info().classes, layout().classes);
      EXPECT_EQ(stream->info().label_space, "0-based");
    }
  }

  const TempDirectory temp_;
};

TEST_P(UnitCifar, archives_of_either_packaging_and_any_order_give_the_same_samples) {
  for (const CifarPackaging packaging : packagings) {
    const Entries entries = cifar_entries(layout(), packaging);
    const std::string name = archive(packaging);
    expect_content({write(temp_ / (name + ".tar.gz"), tar_gz(entries))});
    expect_content({write(temp_ / "o.tar.gz", tar_gz(shuffled(entries)))});
    expect_content({write(temp_ / (name + ".tar"), tar(entries))});
    expect_content({write(temp_ / "any name",
                          make_archive(entries, {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ}))});
    expect_content({write(temp_ / "any.zip", make_archive(entries, {ARCHIVE_FORMAT_ZIP}))});
  }
}

TEST_P(UnitCifar, directories_and_files_of_either_packaging_give_the_same_samples) {
  for (const CifarPackaging packaging : packagings) {
    temp_.clear();
    const Entries entries = cifar_entries(layout(), packaging);
    unpack(temp_.path(), entries);
    expect_content({temp_.path()});
    expect_content({temp_ / directory(packaging)});
    Inputs files;
    for (const auto& [name, content] : shuffled(entries)) {
      if (!name.ends_with("html")) files.push_back(temp_.path() / name);
    }
    expect_content(files);
  }
}

TEST_P(UnitCifar, a_directory_of_archives_and_compressed_files_will_do) {
  for (const CifarPackaging packaging : packagings) {
    temp_.clear();
    const Entries entries = cifar_entries(layout(), packaging);
    write(temp_ / (archive(packaging) + ".tar.gz"), tar_gz(entries));
    expect_content({temp_.path()});
    temp_.clear();
    for (const auto& [name, content] : entries) {
      write(temp_ / (fs::path(name).filename().string() + ".gz"), compressed(content));
    }
    expect_content({temp_.path()});
  }
}

TEST_P(UnitCifar, class_names_come_with_both_packagings) {
  for (const CifarPackaging packaging : packagings) {
    temp_.clear();
    unpack(temp_.path(), cifar_entries(layout(), packaging));
    const auto names = cifar().open(Inputs{temp_.path()}, "train")->info().class_names.names;
    ASSERT_EQ(names.size(), layout().classes);
    EXPECT_EQ(names.front(), class_name(0));
    EXPECT_EQ(names.back(), class_name(layout().classes - 1));
    // Without the file of names the images stay the same.
    fs::remove(temp_ / directory(packaging) /
               cifar_file_name(layout(), packaging, cifar_names_part));
    EXPECT_TRUE(cifar().open(Inputs{temp_.path()}, "train")->info().class_names.names.empty());
    expect_content({temp_.path()});
  }
}

TEST_P(UnitCifar, of_several_packagings_the_quickest_is_read_and_the_others_are_noted) {
  const Inputs python_archive = {write(temp_ / (archive(CifarPackaging::python) + ".tar"),
                                       tar(cifar_entries(layout(), CifarPackaging::python)))};
  const std::size_t own_notes =
      cifar().open(python_archive, "train")->info().notes.size();  // of the dataset itself
  const auto expect_read = [&](const std::string& name, std::size_t passed_over) {
    const auto notes = cifar().open(Inputs{temp_.path()}, "test")->info().notes;
    ASSERT_EQ(notes.size(), own_notes + passed_over);
    for (std::size_t i = 0; i < passed_over; ++i) {
      EXPECT_TRUE(notes[i].starts_with("read from " + name + "; ")) << notes[i];
    }
  };
  expect_read("", 0);
  write(temp_ / (archive(CifarPackaging::binary) + ".tar.gz"),
        tar_gz(cifar_entries(layout(), CifarPackaging::binary)));
  expect_read(archive(CifarPackaging::binary) + ".tar.gz", 1);
  unpack(temp_.path(), cifar_entries(layout(), CifarPackaging::python));
  expect_read(directory(CifarPackaging::python), 2);
  unpack(temp_.path(), cifar_entries(layout(), CifarPackaging::binary));
  expect_read(directory(CifarPackaging::binary), 3);
  expect_content({temp_.path()});
}

TEST_P(UnitCifar, samples_stay_valid_as_long_as_the_stream) {
  unpack(temp_.path(), cifar_entries(layout(), CifarPackaging::python));
  const auto stream = cifar().open(Inputs{temp_.path()}, "train");
  ASSERT_TRUE(stream->lasting());
  std::vector<Sample> kept;
  for (Sample sample; stream->next(sample);) kept.push_back(sample);
  std::string pixels;
  for (const Sample& sample : kept) pixels += as_text(sample.bytes);
  EXPECT_EQ(pixels, expected(layout(), "train").pixels);
  Sample sample;
  EXPECT_FALSE(stream->next(sample));
}

TEST_P(UnitCifar, any_sample_can_be_next) {
  unpack(temp_.path(), cifar_entries(layout(), CifarPackaging::binary));
  const auto stream = cifar().open(Inputs{temp_.path()}, "train");
  ASSERT_TRUE(stream->seekable());
  const Content whole = expected(layout(), "train");
  Sample sample;
  for (std::size_t index = whole.labels.size(); index-- > 0;) {
    stream->seek(index);
    ASSERT_TRUE(stream->next(sample));
    EXPECT_EQ(as_text(sample.bytes),
              whole.pixels.substr(index * cifar_image_bytes, cifar_image_bytes));
    EXPECT_EQ(stream->next(sample), index + 1 < whole.labels.size());
  }
  stream->seek(whole.labels.size());
  EXPECT_FALSE(stream->next(sample));
}

TEST_P(UnitCifar, files_names_what_the_split_reads) {
  const auto tarball = write(temp_ / "x.tar", tar(cifar_entries(layout(), packagings[0])));
  EXPECT_EQ(cifar().files(Inputs{tarball}, "test"), Inputs{tarball});
  unpack(temp_.path(), cifar_entries(layout(), packagings[0]));
  const fs::path inside = temp_ / directory(packagings[0]);
  EXPECT_EQ(cifar().files(Inputs{temp_.path()}, "test"),
            (Inputs{inside / cifar_file_name(layout(), packagings[0], layout().test[0]),
                    inside / layout().name_files[0]}));
  EXPECT_EQ(cifar().files(Inputs{inside}, "train").size(), layout().train.size() + 1);
}

const auto source_name = [](const auto& row) { return std::string(row.param->source); };
INSTANTIATE_TEST_SUITE_P(, UnitCifar, ::testing::Values(&cifar10_layout, &cifar100_layout),
                         source_name);

// A first image with a dark top begins with as many zeros as the end of a tar.
TEST(UnitCifars, a_batch_that_begins_with_zeros_is_no_empty_tar) {
  const TempDirectory directory;
  const auto file = write(directory / "test_batch.bin", std::string(3073, '\0'));
  const auto stream = source("cifar10").open(Inputs{file}, "test");
  EXPECT_EQ(read_all(*stream).labels, std::vector<int>{0});
}

// Pickled again by Python 3, labels as a list and as an array.
TEST(UnitCifars, copies_pickled_by_any_protocol_are_read) {
  const TempDirectory directory;
  std::string pixels;
  for (int i = 0; i < 3 * 3072; ++i) pixels += static_cast<char>(i % 128);
  const auto read = [&](const Source& source, const char* name, const PickledBatch& batch) {
    const auto file = write(directory / name, from_hex(batch.head) + pixels + from_hex(batch.tail));
    Content content = read_all(*source.open(Inputs{file}, "test"));
    EXPECT_EQ(content.pixels, pixels);
    return content;
  };
  for (std::size_t i = 0; i < std::size(pickled_cifar10); ++i) {
    SCOPED_TRACE(pickled_cifar10[i].protocol);
    const std::vector<int> labels{6, 9, 4};
    EXPECT_EQ(read(source("cifar10"), "test_batch", pickled_cifar10[i]).labels, labels);
    EXPECT_EQ(read(source("cifar10"), "test_batch", pickled_cifar10_arrays[i]).labels, labels);
    EXPECT_EQ(read(source("cifar100"), "test", pickled_cifar100[i]).all_labels,
              (std::vector<float>{19, 11, 29, 15, 99, 4}));
  }
}

// Content digest of all samples, in order.
std::string digest_of(SampleStream& stream) {
  std::vector<Sha256> hashes;
  Buffer pixels(cifar_image_bytes);
  for (Sample sample; stream.next(sample);) {
    decode(sample, pixels);
    hashes.push_back(sample_digest(sample.label, {sample.shape, pixels}));
  }
  return dataset_digest(std::move(hashes)).digest;
}

// Computed by a Python script from batch files whose md5 are those of torchvision's list.
constexpr const char* published_train =
    "d52d427a4ba52fe62e289d2af3173891ca89c66ddec8bf64ba7892d0c113d798";
constexpr const char* published_test =
    "4d2cc885bfe44b68f755bff98f42ead97f4daff281e700ded7feae90ec586ecb";

// The files in an archive: base name → content.
std::map<std::string, std::string> files_in(const fs::path& path) {
  std::map<std::string, std::string> files;
  Archive archive(path);
  for (Buffer content; archive.next();) {
    archive.read_all(content, std::uint64_t{1} << 25);
    files[fs::path(archive.name()).filename().string()] = as_text(content);
  }
  return files;
}

// Slow only because the archive is compressed by xz.
TEST(SlowCifar, the_published_files_hold_what_the_world_knows_in_both_packagings) {
  const auto archive = data_file("cifar10/cifar-10-binary.tar.xz");
  const auto frames = data_file("cifar10/python-frames.tar.xz");
  if (!archive || !frames) GTEST_SKIP() << "no CIFAR-10 files on this machine";
  const TempDirectory directory;
  const auto binary = directory / "binary", python = directory / "python";
  for (const auto& path : {binary, python}) fs::create_directory(path);
  for (const auto& [name, content] : files_in(*archive)) write(binary / name, content);
  // The frames are what Python 2 wrote around the pixels.
  auto frame = files_in(*frames);
  write(python / "batches.meta", frame["batches.meta"]);
  for (const std::string_view split : {"train", "test"}) {
    const auto stream = source("cifar10").open(Inputs{binary}, split);
    EXPECT_EQ(stream->info().size, split == "train" ? 50'000U : 10'000U);
    EXPECT_EQ(stream->info().class_names.names.at(6), "frog");
    Sample sample;
    for (const std::string_view part : cifar10_layout.batches(split)) {
      const std::string name(part);
      std::string pickle = frame[name + ".head"];
      for (int i = 0; i < 10'000 && stream->next(sample); ++i) pickle += as_text(sample.bytes);
      write(python / name, pickle += frame[name + ".tail"]);
    }
    const auto again = source("cifar10").open(Inputs{python}, split);
    EXPECT_EQ(again->info().class_names.names, stream->info().class_names.names);
    const char* published = split == "train" ? published_train : published_test;
    EXPECT_EQ(digest_of(*again), published);
    EXPECT_EQ(digest_of(*source("cifar10").open(Inputs{binary}, split)), published);
  }
}

}  // namespace
}  // namespace feedrate::converters
