#include "formats/containers/tfrecord/label_rule.h"

#include <gtest/gtest.h>

#include "formats/base/imagenet_classes.h"
#include "formats/container.h"
#include "formats/containers/tfrecord/tf_example.h"
#include "formats/containers/tfrecord/tf_record.h"
#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::make_image;
using testing::TempDirectory;
using Labels = std::vector<std::int32_t>;

struct Labelled {
  std::int64_t label = 0;
  std::string wnid;  // empty: the record has none
};

class UnitLabelRule : public ::testing::Test {
 protected:
  UnitLabelRule() { png_codec.encode(make_image({2, 2, 1}, 1), image_); }

  /// Writes a file of records, to which `add` adds keys.
  template <class Record, class Add>
  fs::path write_each(const std::vector<Record>& records, const Add& add) const {
    OutputFile file(temporary_ / "train-00000-of-00001");
    for (const Record& record : records) {
      ExampleWriter writer;
      add(writer, record);
      const std::array<Bytes, 3> parts = writer.finish("image/encoded", image_);
      const TfFrame frame = frame_tf_record(parts);
      file.write(frame.head);
      for (const Bytes part : parts) file.write(part);
      file.write(frame.tail);
    }
    file.close();
    return file.path();
  }
  /// With the wnid as the synset or in the name of the image.
  fs::path write(const std::vector<Labelled>& records, bool synsets = true) const {
    return write_each(records, [&](ExampleWriter& writer, const Labelled& record) {
      writer.add_int("image/class/label", record.label);
      const std::string name = record.wnid + "_1.JPEG";
      writer.add_bytes(synsets ? "image/class/synset" : "image/filename",
                       as_bytes(synsets ? record.wnid : name));
    });
  }

  struct Opened {
    Labels labels;  // −1: the sample is bad
    std::vector<std::string> notes;
    std::string problem;  // of the last bad sample
  };
  static Opened open(const fs::path& path) {
    const auto dataset = open_dataset(path);
    Opened opened;
    opened.notes = dataset->info().notes;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      try {
        opened.labels.push_back(dataset->read(i, scratch).label);
        EXPECT_EQ(dataset->label(i, scratch), opened.labels.back());
      } catch (const Error& error) {
        opened.labels.push_back(-1);
        opened.problem = error.what();
        EXPECT_THROW(dataset->label(i, scratch), Error);
      }
    }
    return opened;
  }

  TempDirectory temporary_;
  Buffer image_;
};

/// The record of a class of ILSVRC2012 whose label counts from `first`.
Labelled imagenet(std::int32_t label, std::int64_t first) {
  return {label + first, imagenet_wnids()[static_cast<std::size_t>(label)]};
}

TEST_F(UnitLabelRule, the_table_tells_from_where_imagenet_s_labels_count) {
  const Opened from_zero = open(write({imagenet(1, 0), imagenet(2, 0)}));
  EXPECT_EQ(from_zero.labels, (Labels{1, 2}));
  ASSERT_EQ(from_zero.notes.size(), 1U);
  EXPECT_EQ(from_zero.notes[0],
            "labels beside WordNet ids count from 0: they are places in ILSVRC2012's table");
  const Opened from_one = open(write({imagenet(1, 1), imagenet(2, 1)}));
  EXPECT_EQ(from_one.labels, (Labels{1, 2}));
  EXPECT_TRUE(from_one.notes.empty());
  EXPECT_EQ(open(write({imagenet(0, 0), imagenet(999, 0)})).labels, (Labels{0, 999}));
  EXPECT_EQ(open(write({imagenet(0, 1), imagenet(999, 1)})).labels, (Labels{0, 999}));
}

TEST_F(UnitLabelRule, names_of_imagenet_s_images_tell_it_too) {
  EXPECT_EQ(open(write({imagenet(7, 0), imagenet(500, 0)}, false)).labels, (Labels{7, 500}));
  EXPECT_EQ(open(write({imagenet(7, 1), imagenet(500, 1)}, false)).labels, (Labels{7, 500}));
  // Without synsets, numbers of another kind are labels as they are.
  EXPECT_EQ(open(write({{3, "n01440764"}, {5, "n15075141"}}, false)).labels, (Labels{3, 5}));
}

TEST_F(UnitLabelRule, classes_of_their_own_count_from_zero_where_some_label_is) {
  // Neither is in the table; the only 0 is behind all records that are looked at first.
  std::vector<Labelled> records(200, Labelled{2, "n00000002"});
  EXPECT_EQ(open(write(records)).labels, Labels(200, 1));
  EXPECT_EQ(open(write(records)).notes,
            std::vector<std::string>{
                "labels beside WordNet ids are taken to count from 1, as ImageNet's scripts "
                "write them: none is 0"});
  records[198] = {0, "n00000000"};
  const Opened opened = open(write(records));
  EXPECT_EQ(opened.labels[0], 2);
  EXPECT_EQ(opened.labels[198], 0);
  EXPECT_EQ(opened.notes,
            std::vector<std::string>{"labels beside WordNet ids count from 0: some are 0"});
}

TEST_F(UnitLabelRule, a_subset_that_meets_the_table_by_chance_is_one_of_its_own) {
  // Of the first class, 1 is the place in the table; the others have no such label.
  EXPECT_EQ(open(write({imagenet(1, 0), {2, "n01518878"}, {3, "n01558993"}})).labels,
            (Labels{0, 1, 2}));
}

TEST_F(UnitLabelRule, records_that_contradict_the_others_are_bad) {
  std::vector<Labelled> records;
  for (std::int32_t label = 10; label < 400; ++label) records.push_back(imagenet(label, 1));
  records[111] = imagenet(121, 0);
  Opened opened = open(write(records));
  EXPECT_EQ(opened.labels[110], 120);
  EXPECT_EQ(opened.labels[111], -1);
  EXPECT_EQ(opened.labels[112], 122);
  EXPECT_NE(opened.problem.find("sample 111 (record 111, byte "), std::string::npos)
      << opened.problem;
  EXPECT_NE(opened.problem.find("the label 121 of " + imagenet_wnids()[121] +
                                " counts from 0, the labels of other records from 1"),
            std::string::npos)
      << opened.problem;
  records[111] = {0, imagenet_wnids()[121]};
  opened = open(write(records));
  EXPECT_EQ(opened.labels[111], -1);
  EXPECT_NE(opened.problem.find("0 is the background"), std::string::npos) << opened.problem;
  EXPECT_EQ(verify(*open_dataset(write(records)), 1).findings.size(), 1U);
}

TEST_F(UnitLabelRule, records_that_were_mislabelled_keep_their_labels) {
  std::vector<Labelled> records;
  for (std::int32_t label = 0; label < 100; ++label) records.push_back(imagenet(label, 0));
  for (std::size_t i = 0; i < 40; ++i)
    records[2 * i].label = 7 * static_cast<std::int64_t>(i) % 100;
  const Opened opened = open(write(records));
  EXPECT_EQ(opened.labels[3], 3);
  EXPECT_EQ(opened.labels[22], 77);
}

TEST_F(UnitLabelRule, what_feedrate_wrote_counts_from_one_whatever_the_table_says) {
  const fs::path file = write({imagenet(1, 0), imagenet(2, 0)});
  Sidecar sidecar;
  sidecar.format = "tfrecord";
  sidecar.count = 2;
  sidecar.classes = 2;
  sidecar.class_names.names = {imagenet_wnids()[1], imagenet_wnids()[2]};
  write_sidecar(file.parent_path(), sidecar);
  EXPECT_EQ(open(file.parent_path()).labels, (Labels{0, 1}));
}

TEST_F(UnitLabelRule, labels_of_text_are_numbered_in_the_order_of_their_names) {
  const std::vector<std::string> texts = {"dog", "cat", "dog", "10", "cat"};
  const fs::path file = write_each(texts, [](ExampleWriter& writer, const std::string& text) {
    writer.add_bytes("class", as_bytes(text));
  });
  const Opened opened = open(file);
  EXPECT_EQ(opened.labels, (Labels{2, 1, 2, 0, 1}));
  EXPECT_EQ(opened.notes, std::vector<std::string>{
                              "labels are text: 3 classes, numbered in the order of their names"});
  const auto dataset = open_dataset(file);
  EXPECT_EQ(dataset->info().class_names.names, (std::vector<std::string>{"10", "cat", "dog"}));
  EXPECT_EQ(dataset->info().classes, 3U);
}

TEST_F(UnitLabelRule, a_damaged_number_does_not_make_names_of_the_others) {
  const std::vector<std::string> texts = {"x", "10", "9"};
  const fs::path file = write_each(texts, [](ExampleWriter& writer, const std::string& text) {
    writer.add_bytes("class", as_bytes(text));
  });
  EXPECT_EQ(open(file).labels, (Labels{-1, 10, 9}));
}

TEST_F(UnitLabelRule, a_path_names_the_label) {
  const std::vector<int> labels = {3, 4};
  const fs::path file = write_each(labels, [](ExampleWriter& writer, int label) {
    writer.add_int("label", 0);
    writer.add_int("fine", label);
  });
  EXPECT_EQ(open(file).labels, (Labels{0, 0}));
  EXPECT_EQ(open(file.string() + "?label=fine").labels, (Labels{3, 4}));
  EXPECT_EQ(open(file.parent_path().string() + "?label=fine&image=image/encoded").labels,
            (Labels{3, 4}));
  expect_error(
      [&] { open(file.string() + "?label=coarse"); },
      {"sample 0 (record 0, byte 0)", "no key 'coarse' of labels", "fine (whole numbers)"});
}

TEST_F(UnitLabelRule, names_of_tfds_stand_beside_the_records) {
  const std::vector<int> labels = {1, 0};
  const fs::path file =
      write_each(labels, [](ExampleWriter& writer, int label) { writer.add_int("label", label); });
  write_text(file.parent_path() / "label.labels.txt", "cat\ndog\n");
  EXPECT_EQ(open_dataset(file)->info().class_names.names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(open_dataset(file)->info().classes, 2U);
}

TEST_F(UnitLabelRule, the_first_object_has_the_class) {
  const std::vector<std::vector<std::int64_t>> objects = {{3, 1}, {2}};
  const Opened opened =
      open(write_each(objects, [](ExampleWriter& writer, const std::vector<std::int64_t>& classes) {
        writer.add_ints("image/object/class/label", classes);
      }));
  EXPECT_EQ(opened.labels, (Labels{3, 2}));
  EXPECT_EQ(opened.notes,
            std::vector<std::string>{"the label of an image is that of its first object "
                                     "('image/object/class/label')"});
}

}  // namespace
}  // namespace feedrate::formats
