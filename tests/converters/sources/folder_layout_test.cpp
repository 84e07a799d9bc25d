#include "converters/sources/folder_layout.h"

#include <gtest/gtest.h>

#include "formats/base/text.h"
#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using testing::expect_error;
using Paths = std::vector<std::string>;

// "train: cats=0 dogs=1 | 0 1 - | name"
std::string read(const Paths& paths, std::string_view split, const LabelList* list = nullptr) {
  const FolderLayout layout("set.tar", paths);
  const FolderSplit found = layout.split(split, list);
  std::string text;
  for (const std::string& one : layout.splits()) text += one + " ";
  text += "|";
  for (const std::string& name : found.class_names) text += " " + name;
  text += " |";
  std::string first;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    text += found.labels[i] < 0 ? std::string(" -") : formats::join(" ", found.labels[i]);
    if (found.labels[i] >= 0 && first.empty()) first = paths[i].substr(found.front);
  }
  return text + " | " + first;
}

class UnitFolderLayout : public ::testing::Test {
 protected:
  const LabelList& list(const std::string& text) {
    list_ = std::make_unique<LabelList>(testing::write(directory_ / "list.txt", text));
    return *list_;
  }

  testing::TempDirectory directory_;
  std::unique_ptr<LabelList> list_;
};

TEST_F(UnitFolderLayout, classes_are_the_first_directories_that_differ) {
  EXPECT_EQ(read({"b/2.png", "a/x/1.png", "b/3.png"}, "train"), "train | a b | 1 0 1 | b/2.png");
  EXPECT_EQ(read({"set/raw/b/2.png", "set/raw/a/1.png"}, "train"), "train | a b | 1 0 | b/2.png");
  EXPECT_EQ(read({"cats/1.png"}, "train"), "train | cats | 0 | cats/1.png");
}

TEST_F(UnitFolderLayout, directories_named_like_splits_are_splits) {
  const Paths paths{"s/val/b/1.png", "s/train/a/1.png", "s/train/b/1.png"};
  EXPECT_EQ(read(paths, "train"), "train val | a b | - 0 1 | a/1.png");
  EXPECT_EQ(read(paths, "val"), "train val | a b | 1 - - | b/1.png") << "labels as of train";
  EXPECT_EQ(read({"val/a/1.png", "val/b/1.png"}, "val"), "val | a b | 0 1 | a/1.png");
}

TEST_F(UnitFolderLayout, splits_are_known_in_any_case_and_by_any_of_their_words) {
  EXPECT_EQ(read({"Train/b/1.png", "Train/a/2.png", "VAL/b/3.png"}, "val"),
            "train val | a b | - - 1 | b/3.png");
  EXPECT_EQ(read({"Training/b/1.png", "Training/a/2.png", "validation/b/3.png"}, "validation"),
            "training validation | a b | - - 1 | b/3.png")
      << "labels as of training";
  EXPECT_EQ(read({"TEST/a/1.png", "TEST/b/2.png"}, "test"), "test | a b | 0 1 | a/1.png");
  expect_error(
      [&] {
        read({"Train/a/1.png", "train/a/2.png"}, "train");
      },
      {"set.tar", "holds Train/ and train/", "one train/"});
}

TEST_F(UnitFolderLayout, images_beside_two_splits_belong_to_none) {
  const FolderLayout layout("set.tar", {"train/a/1.png", "extras/2.png", "val/a/3.png", "4.png"});
  EXPECT_EQ(layout.splits(), (std::vector<std::string>{"train", "val"}));
  EXPECT_EQ(layout.beside(), 2U);
  EXPECT_EQ(layout.first_beside(), "extras/2.png");
  EXPECT_EQ(layout.split("train", nullptr).images, 1U);
  const FolderSplit val = layout.split("val", &list("3.png,a\n"));
  EXPECT_EQ(val.labels, (std::vector<std::int32_t>{-1, -1, 0, -1}));
}

TEST_F(UnitFolderLayout, one_directory_named_like_a_split_may_be_a_class) {
  EXPECT_EQ(read({"bus/1.png", "train/2.png"}, "train"), "train | bus train | 0 1 | bus/1.png");
  expect_error(
      [&] {
        read({"unlabelled/1.png", "train/a/2.png"}, "train");
      },
      {"set.tar", "train/ with directories of images beside unlabelled/1.png"});
}

// ImageFolder and the format `folder` count them.
TEST_F(UnitFolderLayout, classes_without_images_count) {
  const FolderLayout layout("set.tar", {"s/train/a/1.png", "s/train/c/2.png", "s/val/c/3.png"},
                            {"s", "s/train", "s/train/a", "s/train/b", "s/val/a", "docs/x"});
  EXPECT_EQ(layout.split("train", nullptr).class_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(layout.split("val", nullptr).labels, (std::vector<std::int32_t>{-1, -1, 2}));
  EXPECT_EQ(layout.split("val", &list("3.png b\n")).labels.at(2), 1);
}

TEST_F(UnitFolderLayout, numbers_that_are_directories_of_train_name_them) {
  const Paths paths{"train/1/a.png", "train/2/b.png", "train/10/c.png", "val/v.png", "val/w.png"};
  EXPECT_EQ(read(paths, "val", &list("v.png 1\nw.png 2\n")),
            "train val | 1 10 2 | - - - 0 2 | v.png");
  EXPECT_EQ(read(paths, "val", &list("v.png 0\nw.png 2\n")), "train val | | - - - 0 2 | v.png")
      << "there is no directory 0: places";
}

TEST_F(UnitFolderLayout, a_list_gives_labels_where_directories_do_not) {
  const Paths paths{"d/train/n1/x.png", "d/train/n2/y.png", "d/val/images/v1.png",
                    "d/val/images/v0.png"};
  const LabelList& annotations = list("v0.png\tn1\t0\nv1.png\tn2\t0\n");
  EXPECT_EQ(read(paths, "val", &annotations), "train val | n1 n2 | - - 1 0 | images/v1.png");
  EXPECT_EQ(read(paths, "train", &annotations), "train val | n1 n2 | 0 1 - - | n1/x.png");
  EXPECT_EQ(read({"x.png", "y.png"}, "train", &list("x.png 7\ny.png 0\n")),
            "train | | 7 0 | x.png");
}

TEST_F(UnitFolderLayout, a_list_numbers_the_classes_of_all_splits_alike) {
  const Paths paths{"train/n1/x.png", "train/n2/y.png", "val/n2/z.png", "val/n1/w.png"};
  const LabelList& all = list("x.png,wolf\ny.png,ant\nz.png,ant\nw.png,wolf\n");
  EXPECT_EQ(read(paths, "train", &all), "train val | ant wolf | 1 0 - - | n1/x.png");
  EXPECT_EQ(read(paths, "val", &all), "train val | ant wolf | - - 0 1 | n2/z.png");
  const LabelList& trained = list("x.png,n3\ny.png,n2\n");
  EXPECT_EQ(read(paths, "train", &trained), "train val | n2 n3 | 1 0 - - | n1/x.png");
  expect_error([&] { read(paths, "val", &trained); },
               {"of no class that train/ has", "1 image: val/n1/w.png"});
  // An "ant" among val's labels would move n1 and n2 up by one.
  expect_error([&] { read(paths, "val", &list("z.png,ant\nw.png,n1\n")); },
               {"list.txt", "names what is no class of train/ in set.tar", "1 label: ant"});
}

// Sorted directories would number "a" 0 and "b" 1, whatever the list's numbers mean.
TEST_F(UnitFolderLayout, numbers_of_a_list_are_not_mixed_with_those_of_directories) {
  const Paths paths{"train/a/x.png", "train/b/y.png", "val/a/z.png", "val/b/w.png"};
  const LabelList& trained = list("x.png 1\ny.png 0\n");
  EXPECT_EQ(read(paths, "train", &trained), "train val | | 1 0 - - | a/x.png");
  expect_error([&] { read(paths, "val", &trained); },
               {"list.txt", "none to those of val/ in set.tar", "names these too"});
  expect_error(
      [&] {
        read({"test/a/x.png", "val/a/z.png"}, "val", &list("x.png 1\n"));
      },
      {"list.txt", "none to those of val/"});
  // The lists of validation images that come beside train's directories count these.
  const LabelList& validated = list("z.png 1\nw.png 1\n");
  EXPECT_EQ(read(paths, "val", &validated), "train val | | - - 1 1 | a/z.png");
  EXPECT_EQ(read(paths, "train", &validated), "train val | a b | 0 1 - - | a/x.png");
  expect_error([&] { read(paths, "val", &list("z.png 1\nw.png 2\n")); },
               {"list.txt", "gives w.png the label 2", "0 to 1", "the 2 classes of train/"});
}

TEST_F(UnitFolderLayout, numbers_of_a_list_count_the_same_classes_for_every_split) {
  const FolderLayout layout("set.tar", {"train/x.png", "train/y.png", "val/z.png"});
  const LabelList& all = list("x.png 7\ny.png 0\nz.png 2\n");
  EXPECT_EQ(layout.split("train", &all).classes, 8U);
  EXPECT_EQ(layout.split("val", &all).classes, 8U);
  const FolderLayout directories("set.tar", {"train/a/x.png", "train/b/y.png", "val/z.png"});
  EXPECT_EQ(directories.split("val", &list("z.png 0\n")).classes, 2U);
}

TEST_F(UnitFolderLayout, images_without_a_label_are_counted_and_the_first_five_named) {
  const Paths paths{"train/a/1.png",    "val/images/1.png", "val/images/2.png", "val/images/3.png",
                    "val/images/4.png", "val/images/5.png", "val/images/66.png"};
  expect_error([&] { read(paths, "val"); },
               {"set.tar", "of no class that train/ has", "--labels", "6 images", "images/5.png"});
  try {
    read(paths, "val");
  } catch (const formats::Error& error) {
    EXPECT_EQ(std::string(error.what()).find("66.png"), std::string::npos) << error.what();
  }
  expect_error(
      [&] {
        read({"1.png", "2.png"}, "train");
      },
      {"in no directory of a class", "--labels", "2 images", "1.png, 2.png"});
  const FolderSplit split =
      FolderLayout("set.tar", paths).split("val", &list("val/images/1.png 0\n"));
  EXPECT_EQ(split.labels, (std::vector<std::int32_t>{-1, 0, -2, -2, -2, -2, -2}));
  EXPECT_EQ(split.images, 6U);
  EXPECT_NE(
      split.unlisted_problem.find(
          "list.txt: does not name what set.tar holds: 5 images, the first: val/images/2.png"),
      std::string::npos)
      << split.unlisted_problem;
}

TEST_F(UnitFolderLayout, names_without_an_image_are_counted) {
  const FolderSplit split =
      FolderLayout("set.tar", {"a/1.png"}).split("train", &list("1.png 0\n7.png 0\n8.png 0\n"));
  EXPECT_EQ(split.absent, (std::vector<std::string>{"7.png", "8.png"}));
  EXPECT_NE(split.absent_problem.find(
                "list.txt: names what set.tar does not hold: 2 images, the first: 7.png, 8.png"),
            std::string::npos)
      << split.absent_problem;
  expect_error([&] { read({"a/1.png"}, "train", &list("7.png 0\n8.png 0\n")); },
               {"list.txt", "does not hold", "2 images", "7.png, 8.png"});
  expect_error(
      [&] {
        read({"a/1.png", "b/1.png"}, "train", &list("1.png 0\n"));
      },
      {"list.txt", "holds twice", "a/1.png, b/1.png"});
}

TEST_F(UnitFolderLayout, a_path_that_comes_twice_is_refused) {
  expect_error([&] { read({"a/1.png", "b/2.png", "a/1.png"}, "train"); }, {"a/1.png twice"});
  expect_error([&] { read({}, "train"); }, {"set.tar", "no images"});
}

}  // namespace
}  // namespace feedrate::converters
