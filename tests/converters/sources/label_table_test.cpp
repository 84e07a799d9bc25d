#include "converters/sources/label_table.h"

#include <gtest/gtest.h>

#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using testing::expect_error;

class UnitLabelTable : public ::testing::Test {
 protected:
  // "a=0 b=1"
  std::string read(const std::string& text, const std::string& image = "",
                   const std::string& label_column = "") const {
    std::string found;
    const formats::Wishes wishes{.image = image, .label = label_column, .shape = {}, .bgr = {}};
    for (const auto& [name, label] :
         read_label_table(testing::write(directory_ / "list.txt", text), wishes)) {
      found += (found.empty() ? "" : " ") + name + "=" + label;
    }
    return found;
  }

  testing::TempDirectory directory_;
};

TEST_F(UnitLabelTable, titles_say_which_column_is_which) {
  EXPECT_EQ(read("label,image\ncat,a\ndog,b\n"), "a=cat b=dog");
  EXPECT_EQ(read("filename,width,height,class\na,500,375,cat\nb,1,2,dog\n"), "a=cat b=dog");
  EXPECT_EQ(read(",File Name,LABEL\n0,a,cat\n1,b,dog\n"), "a=cat b=dog") << "an index of pandas";
  EXPECT_EQ(read("id,label,filename\n7,cat,a\n8,dog,b\n"), "a=cat b=dog");
  EXPECT_EQ(read("filename\tsplit\tlabel\na\ttrain\tcat\nb\tval\tdog\n"), "a=cat b=dog");
  EXPECT_EQ(read("image,name\na,cat\n"), "a=cat");
  EXPECT_EQ(read("image label\na cat\n"), "a=cat");
  EXPECT_EQ(read("img_path,x\na,cat\n"), "a=cat") << "of two columns, the other one";
}

TEST_F(UnitLabelTable, semicolons_separate_fields_and_comments_are_skipped) {
  EXPECT_EQ(read("Filename;Width;Height;Roi.X1;ClassId\n00000.ppm;53;54;6;16\n1.ppm;4;4;5;1\n"),
            "00000.ppm=16 1.ppm=1");
  EXPECT_EQ(read("a.jpg;3\n\"b;c.jpg\";4\n"), "a.jpg=3 b;c.jpg=4");
  EXPECT_EQ(read("a,3\nb;c,4\n"), "a=3 b;c=4");
  EXPECT_EQ(read("lesion_id,image_id,dx\nH1,a,bkl\nH1,b,mel\n"), "a=bkl b=mel");
  EXPECT_EQ(read("# images of 2019\n#\na.jpg 3\nb.jpg 4\n"), "a.jpg=3 b.jpg=4");
  EXPECT_EQ(read("#1.jpg,3\n#2.jpg,4\n"), "#1.jpg=3 #2.jpg=4");
}

TEST_F(UnitLabelTable, a_title_among_the_labels_is_no_header) {
  EXPECT_EQ(read("a,file\nb,saw\n"), "a=file b=saw");
  EXPECT_EQ(read("image_001 3\nimage_002 4\n"), "image_001=3 image_002=4");
}

TEST_F(UnitLabelTable, a_path_names_columns_by_title_or_number) {
  const std::string titled = "a.jpg,kind,what,why\nx.jpg,cat,1,7\ny.jpg,dog,0,8\n";
  EXPECT_EQ(read("pic,kind,what\nx,cat,1\ny,dog,0\n", "pic", "what"), "x=1 y=0");
  EXPECT_EQ(read("pic,kind,what\nx,cat,1\ny,dog,0\n", "", "kind"), "x=cat y=dog");
  EXPECT_EQ(read("kind,pic\ncat,x\n", "", "kind"), "x=cat");
  EXPECT_EQ(read("filename,class,category\na,1,2\n", "", "category"), "a=2");
  EXPECT_EQ(read(titled, "", "2"), "a.jpg=kind x.jpg=cat y.jpg=dog")
      << "a number: no title has that text";
  EXPECT_EQ(read("1 x cat\n2 y dog\n", "2", "3"), "x=cat y=dog");
  EXPECT_EQ(read("image,label,fold\nx,cat,1\n", "1", "3"), "x=1");
  expect_error([&] { read("pic,kind\nx,cat\n", "", "what"); },
               {"list.txt: line 1", "no column 'what'", "it has pic, kind"});
  expect_error([&] { read("x,cat\n", "", "3"); }, {"no column '3'"});
}

TEST_F(UnitLabelTable, titles_that_nobody_knows_stand_in_front_of_names_of_images) {
  EXPECT_EQ(read("shot,mood\nx.jpg,good\ny.jpg,bad\n"), "x.jpg=good y.jpg=bad");
  EXPECT_EQ(read("mood,shot,label\ngood,x.jpg,1\nbad,y.jpg,0\n"), "x.jpg=1 y.jpg=0");
  expect_error([&] { read("mood,shot,place\ngood,x.jpg,1\n"); },
               {"line 1", "beside 'shot'", "?label=COLUMN names it", "It has mood, shot, place"});
}

TEST_F(UnitLabelTable, a_label_may_stand_in_front_of_its_image) {
  EXPECT_EQ(read("3 im/a.jpg\n0 im/my b.jpg\n"), "im/a.jpg=3 im/my b.jpg=0");
  EXPECT_EQ(read("cat,a.jpg\ndog,b.jpg\n"), "a.jpg=cat b.jpg=dog");
  EXPECT_EQ(read("0\ta.jpg\n1\tb.jpg\n"), "a.jpg=0 b.jpg=1");
  expect_error([&] { read("0,a.jpg,cat\n1,b.jpg,dog\n"); },
               {"line 1", "column 2 of 3", "?image=2&label=N"});
}

TEST_F(UnitLabelTable, several_numbers_behind_a_name_are_columns) {
  EXPECT_EQ(read("#Image CLASS-ID SPECIES BREED\nAbyssinian_100 1 1 1\nbeagle_9 5 2 1\n"),
            "Abyssinian_100=1 beagle_9=5");
  EXPECT_EQ(read("my cat.jpg 3\n"), "my cat.jpg=3");
}

TEST_F(UnitLabelTable, titles_that_do_not_tell_the_label_are_refused) {
  expect_error([&] { read("filename,width,height\na,1,2\n"); },
               {"list.txt: line 1", "one column of labels beside 'filename'", "found 0"});
  expect_error([&] { read("filename,class,category\na,1,2\n"); },
               {"list.txt: line 1", "found 2: class, category"});
  expect_error([&] { read("image\na\n"); }, {"line 1", "found 0"});
}

TEST_F(UnitLabelTable, lines_of_other_fields_than_the_first_are_refused) {
  expect_error(
      [&] { read("image,label\na,crane, bird\n"); },
      {"list.txt: line 2", "expected 2 fields, as line 1 has, found 3 in 'a,crane, bird'"});
  expect_error([&] { read("\na,1,2\n\nb,1\n"); }, {"line 4", "expected 3 fields, as line 2"});
  expect_error([&] { read("a\t1\nb 1\n"); }, {"line 2", "expected 2 fields", "found 1"});
  expect_error([&] { read("a,b.jpg,1\nc,d.jpg,2\n"); }, {"line 1", "column 2 of 3"});
  EXPECT_EQ(read("my cat.jpg 1\na, b.jpg 2\n"), "my cat.jpg=1 a, b.jpg=2");
}

TEST_F(UnitLabelTable, boxes_behind_a_class_are_no_part_of_its_name) {
  const std::string rows = "a,n01 1 2 3 4\nb,n02 1 2 3 4 n02 5 6 7 8 \n";
  for (const char* header : {"", "ImageId,PredictionString\n", "image_id,prediction_string\n",
                             "\"ImageId\",\"PredictionString\"\n"}) {
    EXPECT_EQ(read(header + rows), "a=n01 b=n02") << header;
  }
  EXPECT_EQ(read("PredictionString,ImageId\nn01 1 2 3 4,a\n"), "a=n01");
  EXPECT_EQ(read("a,boeing 7 4 7\nb,n02 1 2 3 4\n"), "a=boeing 7 4 7 b=n02 1 2 3 4");
}

TEST_F(UnitLabelTable, what_is_no_text_is_refused) {
  expect_error([&] { read(std::string("a,0\nb,1\0\n", 9)); }, {"line 2", "byte 3 is 0x00"});
  expect_error([&] { read("a,0\rb,1\r"); }, {"line 1", "byte 3 is 0x0d", "one image a line"});
  expect_error([&] { read("a,\x1b[31mred\n"); }, {"line 1", "byte 2 is 0x1b"});
  expect_error(
      [&] {
        read(
            std::string("\xff\xfe"
                        "a\0,\0",
                        6));
      },
      {"UTF-16", "iconv"});
  expect_error([&] { read("a,b\nb,caf\xe9\n"); }, {"line 2", "is not UTF-8"});
  EXPECT_EQ(read("caf\xe9.jpg,1\n"), "caf\xe9.jpg=1") << "files may be called anything";
}

}  // namespace
}  // namespace feedrate::converters
