#include "formats/containers/recordio/image_record.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t fixed_head = 24;            // without the labels
constexpr std::int32_t exact_in_float = 1 << 24;  // beyond it floats skip integers
constexpr float int32_bound = 2147483648.0F;      // 2^31, exact in a float
constexpr std::size_t min_object_width = 5;       // class and box

std::optional<std::int32_t> whole_number(float value) {
  if (!(value >= -int32_bound && value < int32_bound) || std::trunc(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

// A width that a detection label states for its header or its objects; 0 when it is not a width.
std::size_t width_at(const ImageRecord& record, std::size_t i) {
  const auto width = whole_number(record.label_at(i));
  return width && *width > 0 ? static_cast<std::size_t>(*width) : 0;
}

// A corner clamped to the image: boxes of real sets reach a little beyond it.
std::optional<float> corner(float value) {
  if (!(value >= -1 && value <= 2)) return std::nullopt;
  return std::clamp(value, 0.0F, 1.0F);
}

// The class of the first object, and the boxes of all objects in `boxes`; nothing when these are
// labels of another kind.
std::optional<std::int32_t> read_objects(const ImageRecord& record, std::vector<Box>& boxes) {
  boxes.clear();
  const std::size_t count = record.label_count();
  if (count < 2 + min_object_width) return std::nullopt;
  const std::size_t header = width_at(record, 0), object = width_at(record, 1);
  if (header < 2 || object < min_object_width || header >= count ||
      (count - header) % object != 0) {
    return std::nullopt;
  }
  std::int32_t of_first = no_class;
  for (std::size_t at = header; at < count; at += object) {
    const auto label = whole_number(record.label_at(at));
    if (!label) return std::nullopt;
    if (*label < 0) continue;  // padding, which ImageDetIter skips too
    const auto xmin = corner(record.label_at(at + 1)), ymin = corner(record.label_at(at + 2));
    const auto xmax = corner(record.label_at(at + 3)), ymax = corner(record.label_at(at + 4));
    if (!xmin || !ymin || !xmax || !ymax || *xmin > *xmax || *ymin > *ymax) return std::nullopt;
    if (of_first == no_class) of_first = *label;
    if (*xmin < *xmax && *ymin < *ymax) boxes.push_back({*xmin, *ymin, *xmax, *ymax});
  }
  return of_first;
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
    if (!label) throw Error(join("the label ", record.label, " is not a class number"));
    sample.label = *label;
    return;
  }
  scratch.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i) scratch.labels[i] = record.label_at(i);
  sample.labels = scratch.labels;
  if (const auto label = read_objects(record, scratch.boxes)) {
    sample.label = *label;
    sample.boxes = scratch.boxes;
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
