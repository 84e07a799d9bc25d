#include "formats/containers/recordio/image_record.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/base/error.h"
#include "formats/base/label_problem.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t fixed_head = 24;            // without the labels
constexpr std::int32_t exact_in_float = 1 << 24;  // beyond it floats skip integers
constexpr std::size_t min_object_width = 5;       // class and box

// A width that a detection label states for its header or its objects; 0 when it is not a width.
std::size_t width_at(const ImageRecord& record, std::size_t i) {
  const auto width = whole_number(record.label_at(i));
  return width && *width > 0 ? static_cast<std::size_t>(*width) : 0;
}

// The layout of a detection set: where its objects are in the list.
struct ObjectLayout {
  std::size_t header = 0;
  std::size_t object = 0;
};

// Corners as fractions, or in pixels and in order.
bool may_be_box(const Box& box) {
  bool fractions = true, pixels = box.xmin <= box.xmax && box.ymin <= box.ymax;
  for (const float corner : {box.xmin, box.ymin, box.xmax, box.ymax}) {
    fractions = fractions && corner >= -1 && corner <= 2;
    pixels = pixels && corner >= 0;
  }
  return fractions || pixels;
}

Box box_at(const ImageRecord& record, std::size_t at) {
  return {record.label_at(at + 1), record.label_at(at + 2), record.label_at(at + 3),
          record.label_at(at + 4)};
}

// Nothing where these are labels of another kind: no object is, or there are some and none has a box.
std::optional<ObjectLayout> find_layout(const ImageRecord& record) {
  const std::size_t count = record.label_count();
  if (count < 2 + min_object_width) return std::nullopt;
  const ObjectLayout layout{width_at(record, 0), width_at(record, 1)};
  const auto [header, object] = layout;
  if (header < 2 || object < min_object_width || header >= count ||
      (count - header) % object != 0) {
    return std::nullopt;
  }
  bool objects = false, boxes = false;
  for (std::size_t at = header; at < count; at += object) {
    const auto label = whole_number(record.label_at(at));
    if (!label) return std::nullopt;
    objects = objects || *label >= 0;
    boxes = boxes || (*label >= 0 && may_be_box(box_at(record, at)));
  }
  return objects && !boxes ? std::nullopt : std::optional(layout);
}

// The class of the first object; the boxes of all, and how many are none.
void read_objects(const ImageRecord& record, const ObjectLayout& layout, Sample& sample,
                  std::vector<Box>& boxes) {
  boxes.clear();
  sample.label = no_class;
  for (std::size_t at = layout.header; at < record.label_count(); at += layout.object) {
    const std::int32_t label = whole_number(record.label_at(at)).value_or(no_class);
    if (label < 0) continue;  // padding, which ImageDetIter skips too
    if (sample.label == no_class) sample.label = label;
    take_box(box_at(record, at), boxes, sample.boxes_left_out);
  }
  sample.boxes = boxes;
}

}  // namespace

ImageRecord parse_image_record(Bytes payload) {
  if (payload.size() < fixed_head) {
    throw Error(join("not an image record: it has ", payload.size(), " bytes, its header takes ",
                     fixed_head));
  }
  const auto flag = load_le<std::uint32_t>(payload.data());
  if (flag > (payload.size() - fixed_head) / sizeof(float)) {
    throw Error(
        join("not an image record: it states ", flag, " labels in ", payload.size(), " bytes"));
  }
  ImageRecord record;
  record.label = load_le<float>(payload.data() + 4);
  record.id = load_le<std::uint64_t>(payload.data() + 8);
  record.labels = payload.subspan(fixed_head, flag * sizeof(float));
  record.image = payload.subspan(fixed_head + record.labels.size());
  record.head = payload.first(fixed_head + record.labels.size());
  return record;
}

void read_labels(const ImageRecord& record, Sample& sample, Scratch& scratch) {
  const std::size_t count = record.label_count();
  if (count == 0) {
    const auto label = whole_number(record.label);
    if (!std::isfinite(record.label)) {
      throw Error(join("the label ", record.label, " is not a class number"));
    }
    sample.label = label.value_or(no_class);
    if (label) return;
    scratch.labels.assign(1, record.label);  // of a regression: a list of one
    sample.labels = scratch.labels;
    return;
  }
  scratch.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i) scratch.labels[i] = record.label_at(i);
  sample.labels = scratch.labels;
  if (const auto layout = find_layout(record)) {
    read_objects(record, *layout, sample, scratch.boxes);
    return;
  }
  sample.label = std::max(whole_number(scratch.labels.front()).value_or(no_class), no_class);
}

void write_image_head(const Sample& sample, std::uint64_t id, Buffer& head) {
  const bool listed = !sample.labels.empty();
  if (!listed && (sample.label > exact_in_float || sample.label < -exact_in_float)) {
    throw Error(join("RecordIO keeps labels as 32-bit floats, which cannot hold ", sample.label));
  }
  head.clear();
  append_le(head, listed ? static_cast<std::uint32_t>(sample.labels.size()) : 0U);
  append_le(head, listed ? 0.0F : static_cast<float>(sample.label));
  append_le(head, id);
  append_le(head, std::uint64_t{0});
  if (listed) append(head, std::as_bytes(sample.labels));
}

}  // namespace feedrate::formats
