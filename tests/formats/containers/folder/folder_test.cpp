#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "formats/containers/folder/digest_list.h"
#include "formats/digests/digest.h"
#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/partial_writes.h"
#include "tests/support/tar_files.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::Example;
using testing::expect_error;
using testing::files_of;
using testing::make_examples;
using testing::png_bytes;
using testing::TempDirectory;
using testing::write_dataset;
using testing::write_part;
using testing::write_with_a_kill;

const Container& folder() { return container("folder"); }

class UnitFolder : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  void image(std::string_view name) {
    const fs::path file = set_ / name;
    fs::create_directories(file.parent_path());
    write_text(file, png_);
  }
  // "label name" of every sample.
  Lines samples() const {
    const auto dataset = folder().open(set_);
    Lines lines;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      lines.push_back(join(sample.label, ' ', sample.name));
    }
    return lines;
  }
  Lines findings() const {
    Lines lines;
    folder().open(set_)->audit(
        [&](const Finding& found) { lines.push_back(join(found.place, ": ", found.problem)); });
    return lines;
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  std::string png_ = png_bytes(1);
};

// The order that Python's sorted(os.walk()) and sorted(names) give, which is ImageFolder's.
TEST_F(UnitFolder, classes_directories_and_files_are_sorted_byte_by_byte) {
  for (const char* name : {"b/2.png", "b/10.PNG", "B/x.jpeg", "a/s/z.webp", "a/s-t/y.bmp",
                           "a/z.tif", "a/s/u/v.tiff", "caf\xc3\xa9/x.pgm", "cafz/x.ppm"}) {
    image(name);
  }
  EXPECT_EQ(samples(),
            (Lines{"0 B/x.jpeg", "1 a/z.tif", "1 a/s/z.webp", "1 a/s-t/y.bmp", "1 a/s/u/v.tiff",
                   "2 b/10.PNG", "2 b/2.png", "3 cafz/x.ppm", "4 caf\xc3\xa9/x.pgm"}));
  EXPECT_EQ(folder().open(set_)->info().class_names.names,
            (Lines{"B", "a", "b", "cafz", "caf\xc3\xa9"}));
  EXPECT_EQ(folder().open(set_)->info().classes, 5U);
}

TEST_F(UnitFolder, links_to_images_and_directories_are_followed) {
  image("elsewhere/x.png");
  fs::create_directory(set_ / "a");
  fs::create_symlink("../elsewhere/x.png", set_ / "a/y.png");
  fs::create_directory_symlink("../elsewhere", set_ / "a/deeper");
  EXPECT_EQ(samples(), (Lines{"0 a/y.png", "0 a/deeper/x.png", "1 elsewhere/x.png"}));
  fs::create_directory_symlink("..", set_ / "a/back");
  expect_error([&] { samples(); }, {"/set/", "more than 32 levels deep", "link"});
}

TEST_F(UnitFolder, what_is_passed_over_is_told_and_read_by_nobody) {
  image("a/x.png");
  image("a/.hidden.png");
  image("a/.cache/x.png");
  image("outside.png");
  fs::create_directories(set_ / ".git/more");
  write_text(set_ / ".git/config", "");
  write_text(set_ / "a/notes.txt", "");
  write_text(set_ / "README", "is nothing of the dataset");
  EXPECT_EQ(samples(), (Lines{"0 a/x.png"}));
  const Lines told = findings();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("/set/.git: is hidden, or not named like an image"), std::string::npos)
      << told[0];
  EXPECT_NE(told[0].find("as were 4 more"), std::string::npos) << told[0];
}

TEST_F(UnitFolder, a_hidden_directory_of_images_is_a_class_as_for_imagefolder) {
  image("a/x.png");
  image(".old/deeper/x.png");
  EXPECT_EQ(samples(), (Lines{"0 .old/deeper/x.png", "1 a/x.png"}));
  EXPECT_EQ(folder().open(set_)->info().class_names.names, (Lines{".old", "a"}));
}

TEST_F(UnitFolder, classes_named_like_the_files_of_other_formats_are_classes) {
  for (const char* name :
       {"data.mdb", "data.rec", "train_map.txt", "x.tar", "train-00000-of-00001", "x.tfrecord"}) {
    image(std::string(name) + "/x.png");
  }
  EXPECT_EQ(&container_at(set_), &folder());
  EXPECT_EQ(samples().size(), 6U);
}

TEST_F(UnitFolder, a_class_without_images_keeps_its_label_and_is_told) {
  image("a/x.png");
  image("c/x.png");
  fs::create_directory(set_ / "b");
  EXPECT_EQ(samples(), (Lines{"0 a/x.png", "2 c/x.png"}));
  const Lines told = findings();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("/set/b: is a class without images"), std::string::npos) << told[0];
}

TEST_F(UnitFolder, images_that_cannot_be_read_name_their_file) {
  image("a/x.png");
  write_text(set_ / "a/y.bmp", "BM\1\1\1\1");
  fs::create_symlink("nowhere", set_ / "a/z.png");
  const auto dataset = open_dataset(set_);
  Scratch scratch;
  expect_error([&] { dataset->read(1, scratch); }, {"/set/a/y.bmp: sample 1", "BMP"});
  expect_error([&] { dataset->read(2, scratch); }, {"/set/a/z.png: sample 2", "No such file"});
  fs::remove(set_ / "a/x.png");
  EXPECT_EQ(open_dataset(set_)->info().codec, "unknown: BMP");
}

TEST_F(UnitFolder, it_is_known_by_images_in_every_class) {
  image("a/more/x.png");
  EXPECT_FALSE(folder().knows(set_)) << "what is in `a` may be the classes";
  image("b/more/deep/y.png");
  EXPECT_TRUE(folder().knows(set_));
  fs::create_directories(set_ / "empty");
  fs::create_directories(set_ / ".git");
  EXPECT_TRUE(folder().knows(set_));
  write_text(set_ / "empty/notes.txt", "");
  EXPECT_FALSE(folder().knows(set_));
  expect_error([&] { open_dataset(set_); },
               {"would be a folder of classes, but its directory empty holds files and no image",
                "'feedrate convert folder' reads it"});
  EXPECT_FALSE(folder().knows(temporary_.path()));
  EXPECT_FALSE(folder().knows(set_ / "a/x.png"));
  EXPECT_FALSE(folder().knows(temporary_ / "none"));
}

// Two links a level lead to more paths than anyone can walk, as those of "/" do.
TEST_F(UnitFolder, looking_at_links_that_lead_in_circles_ends) {
  for (const char* name : {"a", "b"}) {
    fs::create_directories(set_ / name);
    fs::create_directory_symlink("..", set_ / name / "back");
    fs::create_directory_symlink("..", set_ / name / "there");
  }
  EXPECT_FALSE(folder().knows(set_));
}

TEST_F(UnitFolder, no_other_dataset_is_taken_for_a_folder) {
  write_dataset(container("png-map"), png_codec, set_, make_examples({4, 4, 1}, 3));
  EXPECT_FALSE(folder().knows(set_));
  Sidecar sidecar;
  sidecar.format = "png-map";
  write_sidecar(set_, sidecar);
  fs::remove(set_ / "train_map.txt");
  EXPECT_FALSE(folder().knows(set_)) << "its sidecar says what it was";
  fs::remove(set_ / sidecar_name);
  EXPECT_TRUE(folder().knows(set_));
  write_text(set_ / sidecar_name, "{");
  EXPECT_FALSE(folder().knows(set_));
}

TEST_F(UnitFolder, a_folder_of_splits_names_them) {
  image("train/a/x.png");
  image("val/a/x.png");
  expect_error([&] { open_dataset(set_); }, {"not a dataset itself, but holds some: train, val"});
}

class UnitFolderWriter : public UnitFolder {
 protected:
  Lines written(const std::vector<Example>& examples, WriterOptions options = {}) {
    options.codec = options.codec != nullptr ? options.codec : &png_codec;
    fs::remove_all(set_);
    write_part(folder(), set_, options, examples);
    Lines names;
    for (const auto& [name, content] : files_of(set_)) {
      if (name != digest_list_name) names.push_back(name);
    }
    return names;
  }
  static Example named(std::string name, std::int32_t label) {
    return {testing::make_image({4, 4, 1}, 1), label, std::move(name)};
  }
};

TEST_F(UnitFolderWriter, directories_are_the_classes_where_their_names_sort_as_the_labels) {
  const std::vector<Example> two = {named("", 0), named("", 2)};
  WriterOptions with;
  with.classes.names = {"ant", "bee", "cat"};
  EXPECT_EQ(written(two, with), (Lines{"ant/00000000.png", "cat/00000001.png"}));
  for (const Lines& names :
       {Lines{"bee", "ant", "cat"}, Lines{"a", "a", "b"}, Lines{"T-shirt/top", "b", "c"},
        Lines{"", "a", "b"}, Lines{"..", "a", "b"}, Lines{".a", "a", "b"}}) {
    with.classes.names = names;
    EXPECT_EQ(written(two, with), (Lines{"00000/00000000.png", "00002/00000001.png"})) << names[0];
  }
}

// torchvision's ImageFolder refuses a directory without images.
TEST_F(UnitFolderWriter, a_class_without_images_has_no_directory_and_the_others_keep_their_labels) {
  const std::vector<Example> two = {named("", 1), named("", 3)};
  written(two);
  EXPECT_EQ(samples(), (Lines{"1 00001/00000000.png", "3 00003/00000001.png"}));
  EXPECT_FALSE(fs::exists(set_ / "00000"));
  EXPECT_EQ(folder().open(set_)->info().classes, 4U);
  WriterOptions with;
  with.classes.names = {"ant", "bee", "cat", "dog"};
  written(two, with);
  Sidecar sidecar;
  sidecar.format = "folder";
  sidecar.classes = 4;
  sidecar.class_names = with.classes;
  write_sidecar(set_, sidecar);
  EXPECT_EQ(samples(), (Lines{"1 bee/00000000.png", "3 dog/00000001.png"}));
  EXPECT_EQ(folder().open(set_)->info().class_names.names, with.classes.names);
  fs::rename(set_ / "dog", set_ / "dig");
  expect_error([&] { samples(); }, {"/set", "2 directories", "the 4 classes of feedrate.json"});
}

TEST_F(UnitFolderWriter, files_are_called_as_the_samples_are) {
  EXPECT_EQ(written({named("n01/x_1.JPEG", 0), named("v1.2", 0), named("y.PNG", 0)}),
            (Lines{"00000/v1.2.png", "00000/x_1.png", "00000/y.PNG"}));
  EXPECT_EQ(
      written({named("x_1.JPEG", 0), named("y.png", 0), named("z.jpg", 0)}, {.codec = &jpeg_codec}),
      (Lines{"00000/x_1.JPEG", "00000/y.jpg", "00000/z.jpg"}));
  EXPECT_EQ(written({named("a/", 0), named("..", 0), named(".hidden", 0),
                     named(std::string(300, 'n'), 0)}),
            (Lines{"00000/00000000.png", "00000/00000001.png", "00000/00000002.png",
                   "00000/00000003.png"}));
}

TEST_F(UnitFolderWriter, a_name_that_is_taken_gets_the_index_behind_it) {
  EXPECT_EQ(
      written({named("a/x.png", 0), named("b/x.png", 0), named("x.jpg", 0), named("x.png", 1)}),
      (Lines{"00000/x.png", "00000/x_00000001.png", "00000/x_00000002.png", "00001/x.png"}));
  expect_error(
      [&] {
        written({named("x.png", 0), named("x_00000002.png", 0), named("y/x.png", 0)});
      },
      {"x_00000002.png", "sample 2", "this name already"});
}

TEST_F(UnitFolderWriter, indices_go_on_from_the_first_one) {
  std::vector<Example> examples(5, named("", 0));
  EXPECT_EQ(written(examples, {.first = 3}), (Lines{"00000/00000003.png", "00000/00000004.png"}));
}

TEST_F(UnitFolderWriter, labels_that_are_no_class_are_refused) {
  WriterOptions with;
  with.classes.names = {"a", "b"};
  expect_error([&] { written({named("", 2)}, with); }, {"/set", "sample 0", "label 2", "0 to 1"});
  expect_error([&] { written({named("", -1)}); }, {"label -1", "0 to 99999"});
  expect_error([&] { written({named("", 100'000)}); }, {"label 100000"});
}

TEST_F(UnitFolderWriter, a_writer_killed_anywhere_is_gone_on_from) {
  std::vector<Example> examples = make_examples({4, 4, 1}, 8, true);
  examples[6].name = examples[2].name;  // both of one class
  examples[6].label = examples[2].label;
  examples[7].label = 12;
  const WriterOptions options{.codec = &png_codec};
  write_part(folder(), set_, options, examples);
  const auto whole = files_of(set_);
  EXPECT_EQ(whole.size(), 8U + 1);
  for (std::uint64_t paused = 0; paused <= examples.size(); ++paused) {
    for (const std::uint64_t more : {0U, 1U, 5U}) {
      const fs::path killed = temporary_ / "killed";
      write_with_a_kill(folder(), killed, options, examples, paused, more);
      EXPECT_EQ(files_of(killed), whole) << paused << " and " << more;
      EXPECT_EQ(folder().open(killed)->info().classes, 13U);
      fs::remove_all(killed);
    }
  }
}

TEST_F(UnitFolderWriter, what_was_left_must_be_what_the_state_says) {
  const WriterState state{3, {{std::string(digest_list_name), 53}}};
  WriterOptions options{.codec = &png_codec};
  const auto writer = folder().create(temporary_.path(), options);
  testing::add_examples(*writer, png_codec, make_examples({4, 4, 1}, 2), 0, 2);
  writer->pause();
  options.resume = &state;
  expect_error([&] { folder().create(temporary_.path(), options); },
               {"feedrate.xxh128", "lists 1 samples of 3"});
}

}  // namespace
}  // namespace feedrate::formats
