#include "converters/sources/label_list.h"

#include <gtest/gtest.h>

#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using testing::expect_error;

class UnitLabelList : public ::testing::Test {
 protected:
  std::string labels(const std::string& text, const std::vector<std::string>& paths) const {
    LabelList list(testing::write(directory_ / "list.txt", text));
    list.fit(paths);
    std::string found;
    for (const std::string& path : paths) {
      const std::size_t row = list.find(path);
      found += (row < list.rows().size() ? list.rows()[row].label : "-") + " ";
    }
    return found + (list.numbered() ? "numbers" : "names");
  }

  testing::TempDirectory directory_;
};

TEST_F(UnitLabelList, kaggles_solutions_name_a_class_and_boxes) {
  EXPECT_EQ(labels("ImageId,PredictionString\r\n"
                   "ILSVRC2012_val_00048981,n03995372 85 1 499 272 \r\n"
                   "n02017213_7894,n02017213 115 49 448 294 n02017213 1 2 3 4 \r\n",
                   {"val/ILSVRC2012_val_00048981.JPEG", "train/n02017213/n02017213_7894.JPEG",
                    "val/ILSVRC2012_val_00000001.JPEG"}),
            "n03995372 n02017213 - names");
}

TEST_F(UnitLabelList, tiny_imagenets_annotations_are_separated_by_tabs) {
  EXPECT_EQ(labels("val_0.JPEG\tn03444034\t0\t32\t44\t62\nval_1.JPEG\tn04067472\t52\t55\t57\t59\n",
                   {"val/images/val_1.JPEG", "val/images/val_0.JPEG"}),
            "n04067472 n03444034 names");
}

TEST_F(UnitLabelList, a_name_and_a_number_are_separated_by_a_blank_or_a_comma) {
  EXPECT_EQ(labels("/a/airfield/00000001.jpg 0\n/b/bar/00000001.jpg 12",
                   {"data/b/bar/00000001.jpg", "data/a/airfield/00000001.jpg", "00000001.jpg"}),
            "12 0 - numbers");
  EXPECT_EQ(labels("\xef\xbb\xbf"
                   "filename,label\n\"my cat.jpg\",golden retriever\n",
                   {"x/my cat.jpg"}),
            "golden retriever names");
  EXPECT_EQ(labels("my cat.jpg 3\n\n", {"my cat.jpg", "my cat.png"}), "3 - numbers");
}

TEST_F(UnitLabelList, directories_in_front_of_all_names_may_be_missing_in_the_folder) {
  EXPECT_EQ(labels("im/a.jpg 3\nim/b.jpg 4\n", {"a.jpg", "x/b.jpg"}), "3 4 numbers");
  EXPECT_EQ(
      labels("/home/me/im/x/a.jpg 3\n/home/me/im/y/a.jpg 4\n", {"x/a.jpg", "y/a.jpg", "a.jpg"}),
      "3 4 - numbers");
  EXPECT_EQ(labels("im/a.jpg 3\n", {"a.jpg"}), "3 numbers");
  EXPECT_EQ(labels("C:\\data\\im\\a.jpg 3\nC:\\data\\im\\b.jpg 4\n", {"im/a.jpg", "im/b.jpg"}),
            "3 4 numbers");
  EXPECT_EQ(labels("x\\a.jpg 3\ny\\a.jpg 4\n", {"x/a.jpg", "y/a.jpg", "a.jpg"}), "3 4 - numbers");
  EXPECT_EQ(labels("a 3\nab 4\n", {"x.jpg"}), "- numbers");
  // The whole name comes first: another image may have the end of it.
  EXPECT_EQ(labels("val/1.png 3\n", {"train/1.png", "val/1.png"}), "- 3 numbers");
}

TEST_F(UnitLabelList, whole_numbers_may_be_written_as_fractions) {
  EXPECT_EQ(labels("a.jpg,1.0\nb.jpg,0.0\nc.jpg,2\n", {"a.jpg", "b.jpg", "c.jpg"}),
            "1 0 2 numbers");
  expect_error([&] { labels("a.jpg,1.0\nb.jpg,0.5\n", {}); },
               {"list.txt", "gives b.jpg the label 0.5", "whole numbers"});
  EXPECT_EQ(labels("a.jpg,1.0\nb.jpg,cat\n", {"a.jpg"}), "1.0 names");
}

TEST_F(UnitLabelList, a_path_names_its_columns) {
  testing::write(directory_ / "named.csv", "pic,kind,what\nx,cat,1\ny,dog,0\n");
  const LabelList list(directory_ / "named.csv?label=what&image=pic");
  EXPECT_EQ(list.file(), directory_ / "named.csv");
  ASSERT_EQ(list.rows().size(), 2U);
  EXPECT_EQ(list.rows()[0].name + list.rows()[0].label, "x1");
  EXPECT_TRUE(list.numbered());
}

TEST_F(UnitLabelList, quoted_fields_hold_commas_and_quotes) {
  EXPECT_EQ(labels("image,label,fold\n\"a,b.jpg\", \"crane, bird\" ,1\r\n"
                   "c.jpg,\"crane, \"\"machine\"\"\",2\nd.jpg,\"\"\"\",1\n",
                   {"x/a,b.jpg", "c.jpg", "d.jpg"}),
            "crane, bird crane, \"machine\" \" names");
  expect_error([&] { labels("a.jpg,cat\nb.jpg,\"dog, big\n", {}); },
               {"list.txt", "line 2", "a quote is not closed"});
  expect_error([&] { labels("a.jpg,\"cat\" dog\n", {}); },
               {"list.txt", "line 1", "'dog' stands behind a quote"});
}

TEST_F(UnitLabelList, numbers_of_which_one_counts_no_class_are_no_names) {
  for (const char* wrong : {"-1", "2147483648", "99999999999999999999", "+1", "1.5", "1e1", ".5"}) {
    expect_error([&] { labels(std::string("a.jpg,0\nb.jpg,") + wrong + "\nc.jpg,1\n", {}); },
                 {"list.txt", "gives b.jpg the label", wrong, "expected whole numbers from 0"});
  }
  EXPECT_EQ(labels("a.jpg,0\nb.jpg,-\n", {"b.jpg"}), "- names");
  EXPECT_EQ(labels("a.jpg,1.0\nb.jpg,nan\n", {"b.jpg"}), "nan names");
}

TEST_F(UnitLabelList, lines_that_say_too_little_and_names_said_twice_are_refused) {
  expect_error([&] { labels("a.jpg 1\nb.jpg\n", {}); }, {"list.txt", "line 2", "found 'b.jpg'"});
  expect_error([&] { labels("a.jpg 1\n./a.jpg 2\n", {}); }, {"list.txt", "a.jpg twice"});
  expect_error([&] { labels("name,label\n", {}); }, {"list.txt", "names no images"});
}

}  // namespace
}  // namespace feedrate::converters
