#include "converters/imagenet/boxes.h"

#include <gtest/gtest.h>

#include "converters/imagenet/annotation.h"
#include "tests/converters/make_annotation.h"
#include "tests/converters/make_archive.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

std::vector<Box> boxes_of(const Boxes& boxes, std::string_view image) {
  const auto found = boxes.of(image);
  return {found.begin(), found.end()};
}

std::vector<Box> relative(const std::string& xml) {
  const Annotation annotation = parse_annotation(xml, "a.xml");
  std::vector<Box> boxes;
  for (const AnnotatedBox& box : annotation.boxes) {
    if (const auto one = relative_box(annotation, box)) boxes.push_back(*one);
  }
  return boxes;
}

TEST(UnitAnnotation, a_box_is_relative_to_the_size_that_the_file_states) {
  EXPECT_EQ(relative(make_annotation(500, 375, {{"n01440764", 34, 128, 430, 305}})),
            (std::vector<Box>{{0.068F, 0.3413F, 0.86F, 0.8133F}}));
}

TEST(UnitAnnotation, reversed_corners_are_swapped_and_what_lies_outside_is_cut) {
  EXPECT_EQ(relative(make_annotation(100, 100, {{"x", 90, 80, 10, 20}})),
            (std::vector<Box>{{0.1F, 0.2F, 0.9F, 0.8F}}));
  EXPECT_EQ(relative(make_annotation(100, 200, {{"x", -5, 50, 130, 201}})),
            (std::vector<Box>{{0.F, 0.25F, 1.F, 1.F}}));
}

TEST(UnitAnnotation, boxes_without_area_are_none) {
  EXPECT_TRUE(relative(make_annotation(100, 100,
                                       {{"x", 10, 10, 10, 50},
                                        {"x", 10, 50, 90, 50},
                                        {"x", 101, 10, 140, 50},
                                        {"x", 10, -30, 20, -1}}))
                  .empty());
}

TEST(UnitAnnotation, layout_comments_and_attributes_do_not_matter) {
  const std::string xml =
      "\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE annotation><!-- <object> -->"
      "<annotation verified='a > b'><filename>%s</filename><size>\r\n<width> 200 </width>"
      "<height>100.0</height><depth/></size><object id=\"1\"><bndbox><ymax>50</ymax>"
      "<xmax>100</xmax><ymin>0</ymin><xmin>20</xmin></bndbox><part><name>head</name></part>"
      "<name>n02085620</name></object><object><name>dog</name></object></annotation>\n";
  EXPECT_EQ(relative(xml), (std::vector<Box>{{0.1F, 0.F, 0.5F, 0.5F}}));
  EXPECT_EQ(parse_annotation(xml, "a.xml").boxes.at(0).name, "n02085620");
}

TEST(UnitBoxes, archives_and_directories_give_the_boxes_of_each_image) {
  const TempDirectory directory;
  const std::string one = make_annotation(500, 400, {{"n01440764", 50, 40, 250, 200}});
  const std::string two =
      make_annotation(100, 100, {{"n01751748", 0, 0, 50, 50}, {"n02256656", 50, 50, 100, 100}});
  const std::string none = make_annotation(100, 100, {});
  const Entries entries = {{"Annotation/n01440764/n01440764_96.xml", one},
                           {"val/ILSVRC2012_val_00000001.xml", two},
                           {"n01440764/n01440764_97.xml", none},
                           {"README", "text"}};
  for (const auto& [name, content] : entries) {
    fs::create_directories((directory / "unpacked" / name).parent_path());
    write(directory / "unpacked" / name, content);
  }
  for (const fs::path& input :
       {write(directory / "b.tar.gz", tar_gz(entries)), write(directory / "b.tar", tar(entries)),
        write(directory / "b.zip", make_archive(entries, {ARCHIVE_FORMAT_ZIP})),
        directory / "unpacked"}) {
    SCOPED_TRACE(input);
    Boxes boxes;
    boxes.read(input);
    const std::vector<Box> expected{{0.1F, 0.1F, 0.5F, 0.5F}};
    EXPECT_EQ(boxes_of(boxes, "n01440764_96.JPEG"), expected);
    EXPECT_EQ(boxes_of(boxes, "n01440764/n01440764_96.JPEG"), expected);
    EXPECT_EQ(boxes_of(boxes, "n01440764_96"), expected);
    EXPECT_EQ(boxes_of(boxes, "ILSVRC2012_val_00000001.JPEG").size(), 2U);
    EXPECT_TRUE(boxes.of("n01440764_97.JPEG").empty());
    EXPECT_TRUE(boxes.of("n01440764_98.JPEG").empty());
    EXPECT_EQ(boxes.counts().annotations, 3U);
    EXPECT_EQ(boxes.counts().boxes, 3U);
    EXPECT_EQ(boxes.counts().other_files, 1U);
  }
}

TEST(UnitBoxes, what_is_left_out_is_counted) {
  const TempDirectory directory;
  const auto file = write(
      directory / "b.tar",
      tar({{"n02092002/n02092002_1.xml", make_annotation(100, 100,
                                                         {{"Scottish_deerhound", 0, 0, 50, 50},
                                                          {"n02092002", 10, 10, 60, 60},
                                                          {"n02091467", 20, 20, 70, 70},
                                                          {"n99999999", 30, 30, 80, 80},
                                                          {"n02092002", 10, 10, 10, 60}})},
           {"again/n02092002_1.xml", make_annotation(100, 100, {{"n02092002", 0, 0, 1, 1}})},
           {"n02092002/._n02092002_1.xml", "Mac OS X"}}));
  Boxes boxes;
  boxes.read(file);
  EXPECT_EQ(boxes_of(boxes, "n02092002_1.JPEG"),
            (std::vector<Box>{
                {0.F, 0.F, 0.5F, 0.5F}, {0.1F, 0.1F, 0.6F, 0.6F}, {0.3F, 0.3F, 0.8F, 0.8F}}));
  EXPECT_EQ(boxes.counts().foreign, 1U);
  EXPECT_EQ(boxes.counts().degenerate, 1U);
  EXPECT_EQ(boxes.counts().repeated, 1U);
  EXPECT_EQ(boxes.counts().other_files, 1U);
  EXPECT_EQ(boxes.counts().annotations, 2U);
}

TEST(InteropBoxes, transcribed_annotations_are_read) {
  const auto input = data_file("imagenet/bbox_xml_transcribed");
  if (!input) GTEST_SKIP() << "the annotations are not on this machine";
  Boxes boxes;
  boxes.read(*input);
  EXPECT_EQ(boxes.counts().annotations, 7U);
  EXPECT_EQ(boxes.counts().boxes, 8U);
  EXPECT_EQ(boxes_of(boxes, "ILSVRC2012_val_00000001.JPEG"),
            (std::vector<Box>{{0.222F, 0.288F, 0.882F, 0.5147F}}));
}

TEST(HostileAnnotation, what_is_not_an_annotation_is_an_error_that_names_the_byte) {
  const auto parse = [](const std::string& xml) {
    return [xml] { parse_annotation(xml, "bad.xml"); };
  };
  expect_error(parse(""), {"bad.xml", "byte 0", "expected well-formed XML"});
  expect_error(parse("GIF89a"), {"expected well-formed XML", "No document element"});
  expect_error(parse("<html><body></body></html>"), {"byte 0", "found <html>"});
  expect_error(parse("<annotation></size>"), {"byte 14", "found 'size>'", "tags mismatch"});
  expect_error(parse("<annotation></annotation></annotation>"), {"byte 27", "tags mismatch"});
  expect_error(parse("<annotation></annotation><annotation/>"),
               {"byte 25", "expected one <annotation>"});
  expect_error(parse("<annotation></annotation>"), {"byte 0", "states no size"});
  expect_error(parse("<annotation><size a='"), {"bad.xml: byte ", "attribute"});
  expect_error(parse("<annotation><!-- "), {"bad.xml: byte ", "comment"});
  expect_error(parse("<annotation>< ></annotation>"), {"byte 13", "found ' ></annotation>'"});
  const std::string good = make_annotation(100, 100, {});
  expect_error(parse(good + '\0' + good), {join("byte ", good.size()), "a zero byte"});
}

std::string nested(std::size_t depth, const std::string& inside) {
  std::string xml;
  for (std::size_t i = 0; i < depth; ++i) xml += "<a>";
  xml += inside;
  for (std::size_t i = 0; i < depth; ++i) xml += "</a>";
  return xml;
}

TEST(HostileAnnotation, elements_a_hundred_thousand_deep_cost_memory_but_no_stack) {
  constexpr std::size_t depth = 100'000;
  const std::string size = "<size><width>10</width><height>10</height></size>";
  const std::string sound = join("<annotation>", size, nested(depth, "x"), "</annotation>");
  EXPECT_EQ(parse_annotation(sound, "deep.xml").width, 10);
  const std::string hidden = join("<annotation>", nested(depth, size), "</annotation>");
  expect_error([&] { parse_annotation(hidden, "deep.xml"); }, {"deep.xml", "states no size"});
  expect_error([&] { parse_annotation(sound.substr(0, sound.size() / 2), "deep.xml"); },
               {"deep.xml", "expected well-formed XML"});
}

TEST(HostileAnnotation, entities_that_a_document_declares_are_not_expanded) {
  const std::string xml =
      "<!DOCTYPE annotation [<!ENTITY a \"boom boom\"><!ENTITY b \"&a;&a;&a;\">"
      "<!ENTITY file SYSTEM \"/etc/passwd\">]>"
      "<annotation><size><width>9</width><height>9</height></size><object><name>&b;&file;&lt;"
      "</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>"
      "</annotation>";
  EXPECT_EQ(parse_annotation(xml, "bomb.xml").boxes.at(0).name, "&b;&file;<");
}

TEST(UnitAnnotation, a_size_of_0_leaves_its_boxes_out) {
  for (const auto& [width, height] : {std::pair(0, 100), {100, 0}, {0, 0}}) {
    EXPECT_TRUE(relative(make_annotation(width, height, {{"x", -1, -2, 30, 40}})).empty());
  }
}

TEST(HostileAnnotation, numbers_that_are_none_and_boxes_without_a_corner_are_errors) {
  const std::string good = make_annotation(100, 100, {{"x", 1, 2, 30, 40}});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string xml = good;
    xml.replace(xml.find(from), from.size(), to);
    return [xml] { parse_annotation(xml, "bad.xml"); };
  };
  expect_error(with(">30<", ">thirty<"), {"expected a number in <xmax>, found \"thirty\""});
  expect_error(with(">30<", ">nan<"), {"<xmax>"});
  expect_error(with(">30<", ">1e300<"), {"<xmax>"});
  expect_error(with(">30<", "><"), {"<xmax>, found \"\""});
  expect_error(with(">30<", ">3<!-- -->0<"), {"<xmax>, found \"\""});
  expect_error(with(">30<", ">30<a/><"), {"<xmax>, found \"\""});
  expect_error(with(">30<", ">3&amp;0<"), {"<xmax>, found \"3&0\""});
  expect_error(with("<width>100<", "<width>-100<"), {"no size"});
  expect_error(with("<ymax>40</ymax>", ""), {"has no ymax"});
}

TEST(HostileAnnotation, cut_anywhere_it_is_an_error) {
  const std::string whole = make_annotation(100, 100, {{"x", 1, 2, 30, 40}});
  for (std::size_t size = 0; size < whole.rfind("</annotation>") + 13; ++size) {
    EXPECT_THROW(parse_annotation(whole.substr(0, size), "cut.xml"), Error) << size;
  }
}

TEST(HostileBoxes, a_damaged_annotation_is_named_with_its_archive) {
  const TempDirectory directory;
  Boxes boxes;
  const auto file = write(directory / "b.tar", tar({{"val/ILSVRC2012_val_00000001.xml", "<a>"}}));
  expect_error([&] { boxes.read(file); }, {"b.tar:val/ILSVRC2012_val_00000001.xml", "byte 2"});
  const auto huge = write(directory / "h.tar", tar({{"a.xml", std::string(3 << 20, ' ')}}));
  expect_error([&] { boxes.read(huge); }, {"h.tar:a.xml", "more than the 1048576"});
  write(directory / "large.xml", std::string(3 << 20, ' '));
  expect_error([&] { boxes.read(directory.path()); }, {"large.xml", "too large"});
}

}  // namespace
}  // namespace feedrate::converters
