// ImageNet archives that are damaged, incomplete or malicious.

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/converters/make_devkit.h"
#include "tests/converters/make_imagenet.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

// A training tar of one class with one image, called `name`.
std::string train_with(const std::string& name) {
  return tar({{"n01440764.tar", tar({{name, image(1)}})}});
}

TEST(HostileImagenet, a_training_tar_cut_anywhere_is_an_error) {
  const TempDirectory directory;
  const std::string whole = train_tar();
  const std::size_t needed = whole.size() - 512;  // the first block of zeros marks the end
  for (std::size_t size = 512; size < needed; size += 512) {
    for (const std::size_t cut : {size - 1, size, size + 100}) {
      const auto file = write(directory / "train.tar", whole.substr(0, cut));
      expect_error([&] { read({file}, "train"); }, {"train.tar"});
    }
  }
  write(directory / "train.tar", whole.substr(0, needed));
  EXPECT_EQ(read({directory / "train.tar"}, "train").size(), 4U);
}

TEST(HostileImagenet, a_class_tar_cut_before_it_was_packed_is_an_error_that_names_it) {
  const TempDirectory directory;
  Entries classes = class_tars();
  classes[0].second.resize(512 + 1024);  // after the first image
  const auto file = write(directory / "train.tar", tar(classes));
  expect_error([&] { read({file}, "train"); },
               {"train.tar:n01440764.tar", "without an end marker", "n01440764_2.JPEG"});
}

TEST(HostileImagenet, a_compressed_training_tar_cut_anywhere_is_an_error) {
  const TempDirectory directory;
  const std::string whole = compressed(train_tar());
  for (std::size_t cut = 20; cut < whole.size(); cut += 301) {
    const auto file = write(directory / "train.tar.gz", whole.substr(0, cut));
    expect_error([&] { read({file}, "train"); }, {"train.tar.gz"});
  }
}

TEST(HostileImagenet, a_class_that_is_none_of_the_thousand_is_an_error) {
  const TempDirectory directory;
  const auto unknown = write(directory / "train.tar", tar({{"n99999999.tar", tar({})}}));
  expect_error([&] { read({unknown}, "train"); }, {"n99999999.tar", "no class n99999999"});
  const auto other = write(directory / "other.tar",
                           tar({{"n01440764.tar", tar({{"a.JPEG", "x"}})}, {"notes.txt", "x"}}));
  expect_error([&] { read({other}, "train"); }, {"other.tar:notes.txt", "the tar of a class"});
}

TEST(HostileImagenet, a_class_that_comes_twice_is_an_error_that_names_both_places) {
  const TempDirectory directory;
  const auto one = write(directory / "one.tar", train_tar());
  const auto two = write(directory / "n01751748.tar", tar({{"n01751748_1.JPEG", image(1)}}));
  expect_error(
      [&] {
        read({one, two}, "train");
      },
      {"n01751748.tar: the class n01751748 appears twice", "one.tar:n01751748.tar"});
}

TEST(HostileImagenet, names_that_lead_elsewhere_are_only_names) {
  const TempDirectory directory;
  for (const char* name : {"../../n01440764_1.JPEG", "/etc/n01440764_1.JPEG",
                           "a/b/../../../n01440764_1.JPEG", "./n01440764_1.JPEG"}) {
    const auto file = write(directory / "train.tar", train_with(name));
    EXPECT_EQ(read({file}, "train"), (Read{{0, "n01440764/n01440764_1.JPEG", image(1)}}));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1) << "nothing is written";
}

TEST(HostileImagenet, what_is_no_image_by_its_name_is_an_error) {
  const TempDirectory directory;
  for (const char* name : {"..", "n01440764_1.gif", "notes", ".JPEG", "n01440764_1.JPEG/.."}) {
    const auto file = write(directory / "train.tar", train_with(name));
    expect_error([&] { read({file}, "train"); },
                 {"n01440764.tar:", "expected the name of an image"});
  }
  const auto tab = write(directory / "train.tar", train_with("a\tb.JPEG"));
  expect_error([&] { read({tab}, "train"); }, {"control characters"});
}

TEST(HostileImagenet, an_empty_image_is_a_sample_with_a_problem) {
  const TempDirectory directory;
  const auto train = write(
      directory / "train.tar",
      tar({{"n01440764.tar", tar({{"n01440764_1.JPEG", ""}, {"n01440764_2.JPEG", image(2)}})}}));
  const auto val = write(directory / "val.tar", tar({{"ILSVRC2012_val_00000001.JPEG", ""},
                                                     {"ILSVRC2012_val_00000002.JPEG", image(2)}}));
  const auto devkit = write(directory / "devkit.tar.gz", make_devkit());
  const std::vector inputs{train, val, devkit};
  for (const char* split : {"train", "val"}) {
    const auto stream = source("imagenet").open(inputs, split);
    Sample sample;
    ASSERT_TRUE(stream->next(sample));
    EXPECT_EQ(stream->problem(), "the image is empty");
    ASSERT_TRUE(stream->next(sample));
    EXPECT_EQ(stream->problem(), "");
    EXPECT_EQ(as_text(sample.bytes), image(2));
  }
}

// A tar with one entry that is not a file.
std::string tar_with_special(unsigned type, const std::string& name) {
  std::string bytes;
  archive* writer = archive_write_new();
  archive_write_set_format_ustar(writer);
  archive_write_open(
      writer, &bytes, nullptr,
      [](archive*, void* to, const void* block, std::size_t size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(block), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, name.c_str());
  archive_entry_set_filetype(entry, type);
  archive_entry_set_perm(entry, 0644);
  if (type == AE_IFLNK) archive_entry_set_symlink(entry, "/etc/passwd");
  EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

TEST(HostileImagenet, links_and_devices_are_refused_by_name) {
  const TempDirectory directory;
  for (const unsigned type :
       {unsigned{AE_IFLNK}, unsigned{AE_IFCHR}, unsigned{AE_IFBLK}, unsigned{AE_IFIFO}}) {
    const std::string one = tar_with_special(type, "n01440764_1.JPEG");
    const auto file = write(directory / "train.tar", tar({{"n01440764.tar", one}}));
    expect_error([&] { read({file}, "train"); },
                 {"train.tar:n01440764.tar:n01440764_1.JPEG", "a link or a device"});
  }
}

TEST(HostileImagenet, a_compressed_class_in_a_plain_tar_says_what_to_do) {
  const TempDirectory directory;
  const auto file =
      write(directory / "train.tar",
            tar({{"n01440764.tar", compressed(tar({{"n01440764_1.JPEG", image(1)}}))}}));
  expect_error([&] { read({file}, "train"); }, {"n01440764.tar", "decompress the class's tar"});
}

TEST(HostileImagenet, validation_images_without_their_labels_say_which_file_to_give) {
  const TempDirectory directory;
  const auto val = write(directory / "val.tar", val_tar({1}));
  expect_error([&] { read({val}, "val"); },
               {"val.tar", "also give ILSVRC2012_devkit_t12.tar.gz", "ground truth"});
  const auto meta = write(directory / "meta.mat", "x");
  expect_error(
      [&] {
        read({val, meta}, "val");
      },
      {"meta.mat", "ILSVRC2012_validation_ground_truth.txt"});
}

TEST(HostileImagenet, validation_images_beyond_the_ground_truth_or_twice_are_errors) {
  const TempDirectory directory;
  const auto devkit = write(directory / "devkit.tar.gz", make_devkit());
  const auto val = directory / "val.tar";
  write(val, val_tar({1, 50001}));
  expect_error(
      [&] {
        read({val, devkit}, "val");
      },
      {"val.tar:ILSVRC2012_val_00050001.JPEG", "ILSVRC2012_val_00050000.JPEG"});
  write(val, val_tar({1, 0}));
  expect_error([&] { read({val, devkit}, "val"); }, {"ILSVRC2012_val_00000000.JPEG"});
  write(val, val_tar({7, 1, 7}));
  expect_error([&] { read({val, devkit}, "val"); }, {"_00000007.JPEG", "appears twice"});
  write(val, tar({{"ILSVRC2012_val_00000001.JPEG", "x"}, {"cat.JPEG", "x"}}));
  expect_error([&] { read({val, devkit}, "val"); }, {"cat.JPEG", "expected one of"});
  const std::string whole = val_tar({3, 1});
  for (std::size_t cut = 1024; cut < whole.size() - 512; cut += 512) {
    write(val, whole.substr(0, cut));
    expect_error([&] { read({val, devkit}, "val"); }, {"val.tar"});
  }
}

TEST(HostileImagenet, inputs_that_are_something_else_are_refused) {
  const TempDirectory directory;
  const auto text = write(directory / "notes.tar", tar({{"notes.txt", "x"}}));
  expect_error([&] { read({text}, "train"); }, {"notes.tar", "not part of ILSVRC2012"});
  const auto test = write(directory / "test.tar", tar({{"ILSVRC2012_test_00000001.JPEG", "x"}}));
  expect_error([&] { read({test}, "train"); }, {"test.tar", "without labels"});
  const auto renamed = write(directory / "fish.tar", tar({{"n01440764_1.JPEG", image(1)}}));
  expect_error([&] { read({renamed}, "train"); }, {"fish.tar", "like n01440764.tar"});
  expect_error([&] { read({}, "train"); }, {"no input given"});
  expect_error([&] { read({directory / "none.tar"}, "train"); }, {"none.tar", "No such file"});
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  expect_error([&] { read({directory / "pipe"}, "train"); }, {"pipe", "not a regular file"});
  const auto train = write(directory / "train.tar", train_tar());
  expect_error([&] { read({train}, "val"); }, {"no validation images", "ILSVRC2012_img_val.tar"});
  const auto devkit = write(directory / "devkit.tar.gz", make_devkit());
  expect_error([&] { read({devkit}, "train"); }, {"no training images"});
  expect_error([&] { source("imagenet").splits(std::vector{devkit}); }, {"holds no images"});
}

}  // namespace
}  // namespace feedrate::converters
