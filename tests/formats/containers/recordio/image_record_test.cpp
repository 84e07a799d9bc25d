#include "formats/containers/recordio/image_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

Buffer head_of(std::int32_t label, std::uint64_t id, std::span<const float> labels = {}) {
  Sample sample;
  sample.label = label;
  sample.labels = labels;
  Buffer head;
  write_image_head(sample, id, head);
  return head;
}

TEST(UnitImageRecord, an_image_record_is_header_and_image) {
  Buffer payload = head_of(7, 42);
  append(payload, as_bytes("\xff\xd8\xff"));
  EXPECT_EQ(hex(payload), "000000000000e0402a000000000000000000000000000000ffd8ff");
  const ImageRecord record = parse_image_record(payload);
  EXPECT_EQ(record.label, 7);
  EXPECT_EQ(record.id, 42U);
  EXPECT_EQ(as_text(record.image), "\xff\xd8\xff");
  EXPECT_EQ(record.label_count(), 0U);
}

TEST(UnitImageRecord, several_labels_follow_a_header_without_one) {
  const std::vector<float> labels{5, 0.25F};
  Buffer payload = head_of(5, 1, labels);
  append(payload, as_bytes("image"));
  EXPECT_EQ(hex(Bytes(payload).first(32)),
            "0200000000000000010000000000000000000000000000000000a0400000803e");
  const ImageRecord record = parse_image_record(payload);
  EXPECT_EQ(as_text(record.image), "image");
  Sample sample;
  Scratch scratch;
  read_labels(record, sample, scratch);
  EXPECT_EQ(sample.label, 5);
  EXPECT_EQ(std::vector<float>(sample.labels.begin(), sample.labels.end()), labels);
  EXPECT_TRUE(sample.boxes.empty());
}

// As Python's mxnet packs an array of one, which keeps a label that is not a class number.
TEST(UnitImageRecord, a_list_of_one_label_stays_a_list) {
  const std::vector<float> one{0.25F};
  const Buffer payload = head_of(no_class, 1, one);
  EXPECT_EQ(hex(payload),
            "01000000000000000100000000000000"
            "0000000000000000"
            "0000803e");
  Sample sample;
  Scratch scratch;
  read_labels(parse_image_record(payload), sample, scratch);
  EXPECT_EQ(sample.label, no_class);
  EXPECT_EQ(std::vector<float>(sample.labels.begin(), sample.labels.end()), one);
}

// What read_labels returns for these labels.
struct Read {
  explicit Read(const std::vector<float>& labels) : payload(head_of(0, 0, labels)) {
    read_labels(parse_image_record(payload), sample, scratch);
  }
  Buffer payload;
  Scratch scratch;
  Sample sample;
};

TEST(UnitImageRecord, labels_of_a_detection_set_are_boxes) {
  const Read read({4, 5, 768, 576, 0, 0.1F, 0.2F, 0.3F, 0.4F, 1, 0, 0, 1, 1});
  EXPECT_EQ(read.sample.label, 0);
  ASSERT_EQ(read.sample.boxes.size(), 2U);
  EXPECT_EQ(read.sample.boxes[0], (Box{0.1F, 0.2F, 0.3F, 0.4F}));
  EXPECT_EQ(read.sample.boxes[1], (Box{0, 0, 1, 1}));
  EXPECT_EQ(read.sample.labels.size(), 14U);
}

TEST(UnitImageRecord, padding_is_no_object_and_boxes_end_with_the_image) {
  const Read read({2, 6, 3, -0.1F, 0.2F, 1.5F, 0.4F, 0, -1, -1, -1, -1, -1, -1});
  EXPECT_EQ(read.sample.label, 3);
  ASSERT_EQ(read.sample.boxes.size(), 1U);
  EXPECT_EQ(read.sample.boxes[0], (Box{0, 0.2F, 1, 0.4F}));
  const Read none({2, 5, -1, -1, -1, -1, -1});
  EXPECT_EQ(none.sample.label, no_class);
  EXPECT_TRUE(none.sample.boxes.empty());
}

TEST(UnitImageRecord, labels_that_only_look_like_boxes_are_labels) {
  for (const std::vector<float>& labels : std::vector<std::vector<float>>{
           {4, 5, 7, 7, 0, 30, 20, 10, 40},             // neither fractions nor in order
           {4, 5, 7, 7, 0.5F, 0.1F, 0.2F, 0.3F, 0.4F},  // not a class
           {4, 5, 7, 7, 0, 0.1F, 0.2F, 0.3F},           // an object too short
           {4, 4, 7, 7, 0, 0.1F, 0.2F, 0.3F}}) {        // objects without a box
    const Read read(labels);
    EXPECT_EQ(read.sample.label, 4);
    EXPECT_TRUE(read.sample.boxes.empty());
    EXPECT_EQ(read.sample.labels.size(), labels.size());
  }
}

TEST(UnitImageRecord, the_class_of_objects_is_theirs_whatever_their_boxes_are) {
  for (const std::vector<float>& labels : std::vector<std::vector<float>>{
           {2, 5, 11, 774, 411, 815, 446},                       // in pixels
           {4, 5, 1024, 768, 11, 774, 411, 815, 446},            // with a header of four
           {2, 6, 11, 774, 411, 774, 446, 0, 3, 9, 9, 8, 8, 0},  // without area, reversed
           {2, 5, 11, 0.1F, 0.2F, 0.1F, 0.4F}}) {                // without area
    const Read read(labels);
    EXPECT_EQ(read.sample.label, 11);
    EXPECT_TRUE(read.sample.boxes.empty());
    EXPECT_EQ(read.sample.boxes_left_out, labels.size() > 10 ? 2U : 1U);
    EXPECT_EQ(read.sample.labels.size(), labels.size());
  }
  const Read read({2, 5, 11, 0.4F, 0.2F, 0.1F, 1.0000001F});
  ASSERT_EQ(read.sample.boxes.size(), 1U);
  EXPECT_EQ(read.sample.boxes[0], (Box{0.1F, 0.2F, 0.4F, 1})) << "put in order, and clamped";
  EXPECT_EQ(read.sample.boxes_left_out, 0U);
}

TEST(UnitImageRecord, a_fraction_in_the_header_is_a_list_of_one) {
  Buffer payload;
  append_le(payload, std::uint32_t{0});
  append_le(payload, 2.5F);
  payload.resize(24);
  Sample sample;
  Scratch scratch;
  read_labels(parse_image_record(payload), sample, scratch);
  EXPECT_EQ(sample.label, no_class);
  EXPECT_EQ(std::vector<float>(sample.labels.begin(), sample.labels.end()),
            std::vector<float>{2.5F});
}

TEST(UnitImageRecord, labels_that_start_with_no_class_are_kept_and_the_sample_has_none) {
  for (const float first : {0.5F, -3.0F, 3e9F, std::numeric_limits<float>::quiet_NaN()}) {
    const Read read({first, 1});
    EXPECT_EQ(read.sample.label, no_class);
    EXPECT_EQ(read.sample.labels.size(), 2U);
  }
}

TEST(HostileImageRecord, a_label_that_a_float_cannot_hold_is_refused) {
  EXPECT_EQ(parse_image_record(head_of(1 << 24, 0)).label, 1 << 24);
  expect_error([] { head_of((1 << 24) + 1, 0); }, {"16777217"});
}

TEST(HostileImageRecord, labels_that_are_no_classes_are_refused) {
  for (const float label :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Buffer payload;
    append_le(payload, std::uint32_t{0});
    append_le(payload, label);
    payload.resize(24);
    Sample sample;
    Scratch scratch;
    expect_error([&] { read_labels(parse_image_record(payload), sample, scratch); },
                 {"not a class number"});
  }
}

TEST(HostileImageRecord, more_labels_than_bytes_are_refused) {
  Buffer payload(24);
  payload[3] = std::byte{0xff};
  expect_error([&] { parse_image_record(payload); }, {"not an image record", "4278190080 labels"});
  expect_error([&] { parse_image_record(Bytes(payload).first(23)); }, {"23 bytes"});
}

}  // namespace
}  // namespace feedrate::formats
