// Tars of other tools whose images and labels are called otherwise than .jpg and .cls.

#include "formats/containers/webdataset/sample_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/tar_files.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::png_bytes;
using testing::TarMembers;
using testing::TempDirectory;
using testing::write_tar;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

class UnitSampleKeys : public ::testing::Test {
 protected:
  std::unique_ptr<Dataset> open(const TarMembers& members, const std::string& wishes = "") const {
    write_tar(temporary_ / "x.tar", members);
    return open_dataset((temporary_ / "x.tar").string() + wishes);
  }
  static Labels labels_of(const Dataset& dataset) {
    Labels labels;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset.size(); ++i) {
      labels.push_back(dataset.read(i, scratch).label);
      EXPECT_EQ(dataset.label(i, scratch), labels.back());
    }
    return labels;
  }
  Labels labels(const TarMembers& members, const std::string& wishes = "") const {
    return labels_of(*open(members, wishes));
  }
  TempDirectory temporary_;
};

TEST_F(UnitSampleKeys, labels_of_text_are_numbered_in_the_order_of_their_names) {
  for (const std::string label : {"cls", "json"}) {
    const auto text = [&](const std::string& name) {
      return label == "cls" ? name + "\n" : R"({"label": ")" + name + R"("})";
    };
    const auto dataset = open({{"0.png", png_bytes(0)},
                               {"0." + label, text("dog")},
                               {"1.png", png_bytes(1)},
                               {"1." + label, text("cat")},
                               {"2.png", png_bytes(2)},
                               {"2." + label, text("dog")},
                               {"3.png", png_bytes(3)},
                               {"3." + label, text("10")}});
    EXPECT_EQ(labels_of(*dataset), (Labels{2, 1, 2, 0})) << label;
    EXPECT_EQ(dataset->info().class_names.names, (Names{"10", "cat", "dog"}));
    EXPECT_EQ(dataset->info().classes, 3U);
    EXPECT_EQ(dataset->info().notes,
              Names{"labels are text: 3 classes, numbered in the order of their names"});
    EXPECT_TRUE(verify(*dataset, 1).findings.empty());
  }
}

TEST_F(UnitSampleKeys, a_damaged_number_does_not_make_names_of_the_others) {
  for (const std::string& wrong : {std::string("x"), std::string("1\0", 2), std::string("\xff")}) {
    const auto dataset = open({{"0.png", png_bytes(0)},
                               {"0.cls", wrong},
                               {"1.png", png_bytes(1)},
                               {"1.cls", "10"},
                               {"2.png", png_bytes(2)},
                               {"2.cls", "9"}});
    Scratch scratch;
    EXPECT_THROW(dataset->read(0, scratch), Error) << wrong;
    EXPECT_EQ(dataset->read(1, scratch).label, 10);
    EXPECT_EQ(dataset->read(2, scratch).label, 9);
    EXPECT_TRUE(dataset->info().notes.empty());
  }
}

TEST_F(UnitSampleKeys, numbers_are_labels_however_the_json_writes_them) {
  EXPECT_EQ(labels({{"0.png", png_bytes(0)},
                    {"0.json", R"({"label": "3"})"},
                    {"1.png", png_bytes(1)},
                    {"1.json", R"({"label": 4.0})"},
                    {"2.png", png_bytes(2)},
                    {"2.json", R"({"label": 5})"}}),
            (Labels{3, 4, 5}));
}

TEST_F(UnitSampleKeys, a_path_names_members_and_keys) {
  const TarMembers members = {{"0.left.png", png_bytes(0)},
                              {"0.right.png", png_bytes(1)},
                              {"0.cls", "1"},
                              {"0.fine", "7"},
                              {"0.json", R"({"coarse": 2, "Name": "b"})"}};
  Scratch scratch;
  EXPECT_EQ(open(members, "?image=right.png")->read(0, scratch).bytes.size(), png_bytes(1).size());
  EXPECT_EQ(as_text(open(members, "?image=right")->read(0, scratch).bytes), png_bytes(1));
  EXPECT_EQ(labels(members, "?image=left.png"), Labels{1});
  EXPECT_EQ(labels(members, "?image=left.png&label=fine"), Labels{7});
  EXPECT_EQ(labels(members, "?image=LEFT.png&label=coarse"), Labels{2});
  EXPECT_EQ(open(members, "?image=left&label=Name")->info().class_names.names, Names{"b"});
  expect_error([&] { open(members); }, {"holds no image", ".left.png .right.png", "?image=NAME"});
  expect_error([&] { open(members, "?image=left&label=x"); },
               {"holds no label", "expected a .x, or a .json with a \"x\"", "?label=NAME"});
  expect_error([&] { open(members, "?order=bgr"); },
               {"expected ?image=NAME, ?label=NAME, ?shape=", "found 'order=bgr'"});
}

TEST_F(UnitSampleKeys, what_is_surely_the_image_or_the_label_need_not_be_named) {
  const auto dataset = open({{"0.input.png", png_bytes(0)},
                             {"0.class", "3"},
                             {"1.input.jpg", png_bytes(1)},
                             {"1.class", "4"}});
  EXPECT_EQ(labels_of(*dataset), (Labels{3, 4}));
  ASSERT_EQ(dataset->info().notes.size(), 2U);
  EXPECT_EQ(dataset->info().notes[0],
            "images are the members .input.jpg, or of another type of image");
  EXPECT_EQ(dataset->info().notes[1], "labels are the members .class, or \"class\" of the .json");
  EXPECT_EQ(labels({{"0.png", png_bytes(0)}, {"0.json", R"({"cls": 5})"}}), Labels{5});
}

TEST_F(UnitSampleKeys, a_wished_shape_is_that_of_raw_pixels) {
  const auto dataset =
      open({{"0.rgb", std::string(24, 'x')}, {"0.cls", "1"}}, "?image=rgb&shape=2x4x3");
  Scratch scratch;
  const Sample sample = dataset->read(0, scratch);
  EXPECT_EQ(sample.codec, &raw_codec);
  EXPECT_EQ(sample.shape, (Shape{2, 4, 3}));
  EXPECT_EQ(dataset->info().codec, "raw");
  expect_error(
      [&] {
        open({{"0.rgb", "x"}, {"0.cls", "1"}}, "?image=rgb&shape=2x4x3");
      },
      {"'0.rgb' has 1 bytes, which are not 2x4x3 pixels"});
}

TEST_F(UnitSampleKeys, what_operating_systems_leave_behind_is_counted) {
  const TarMembers members = {
      {"d/.DS_Store", "x"},      {"d/0.png", png_bytes(0)}, {"d/._0.png", "x"}, {"d/0.cls", "3"},
      {"__MACOSX/d/0.png", "x"}, {"d/1.png", png_bytes(1)}, {"d/1.cls", "4"},   {"d/._1.cls", "x"}};
  const auto dataset = open(members);
  EXPECT_EQ(labels_of(*dataset), (Labels{3, 4}));
  EXPECT_EQ(
      dataset->info().notes,
      Names{"passed over 4 files that operating systems leave behind, like .DS_Store and ._name"});
  EXPECT_TRUE(verify(*dataset, 1).findings.empty());
  container("webdataset").write_index(temporary_ / "x.tar");
  EXPECT_EQ(labels_of(*open_dataset(temporary_ / "x.tar")), (Labels{3, 4}));
}

}  // namespace
}  // namespace feedrate::formats
