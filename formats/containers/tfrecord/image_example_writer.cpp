#include "formats/containers/tfrecord/image_example_writer.h"

#include <algorithm>
#include <string>

#include "formats/base/error.h"
#include "formats/containers/tfrecord/image_example.h"
#include "formats/containers/tfrecord/label_rule.h"

namespace feedrate::formats {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// build_imagenet_data writes "JPEG"; slim's scripts "png" and "jpeg".
std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

}  // namespace

ImageExampleWriter::ImageExampleWriter(const ClassNames& classes)
    : classes_(classes), imagenet_(counts_from_one(classes)) {}

std::array<Bytes, 3> ImageExampleWriter::write(const Sample& sample) {
  if (sample.codec == &raw_codec) {
    throw Error("a TFRecord keeps image files, not raw pixels; encode them as png or jpeg");
  }
  if (sample.label < 0) throw Error(join("the negative label ", sample.label, " is no class"));
  example_.clear();
  if (imagenet_) {
    add_imagenet(sample);
  } else {
    add_slim(sample);
  }
  return example_.finish(example_key::encoded, sample.bytes);
}

void ImageExampleWriter::add_imagenet(const Sample& sample) {
  const auto label = static_cast<std::size_t>(sample.label);
  if (label >= classes_.names.size()) {
    throw Error(join("the label ", label, " is none of the ", classes_.names.size(), " classes"));
  }
  // Both branches are views: otherwise the text would be copied into a temporary string.
  const auto text = label < classes_.texts.size() ? std::string_view(classes_.texts[label]) : "";
  const std::int64_t stored = sample.label + std::int64_t{1};  // 0 is the background
  example_.add_int(example_key::height, sample.shape.height);
  example_.add_int(example_key::width, sample.shape.width);
  // Stated for every image, grey ones too, because readers decode to three channels.
  example_.add_bytes(example_key::colorspace, as_bytes("RGB"));
  example_.add_int(example_key::channels, 3);
  example_.add_int(example_key::label, stored);
  example_.add_bytes(example_key::synset, as_bytes(classes_.names[label]));
  example_.add_bytes(example_key::text, as_bytes(text));
  add_boxes(sample, stored);
  example_.add_bytes(example_key::format, as_bytes(upper_case(sample.codec->name())));
  example_.add_bytes(example_key::filename, as_bytes(base_name(sample.name)));
}

// Adds to slim's five keys only those that the sample has: readers ask for keys by name.
void ImageExampleWriter::add_slim(const Sample& sample) {
  example_.add_int(example_key::label, sample.label);
  example_.add_bytes(example_key::format, as_bytes(sample.codec->name()));
  example_.add_int(example_key::height, sample.shape.height);
  example_.add_int(example_key::width, sample.shape.width);
  if (!sample.name.empty()) example_.add_bytes(example_key::filename, as_bytes(sample.name));
  if (!sample.boxes.empty()) add_boxes(sample, sample.label);
}

void ImageExampleWriter::add_boxes(const Sample& sample, std::int64_t label) {
  const auto add_side = [&](std::string_view key, float Box::*side) {
    side_.clear();
    for (const Box& box : sample.boxes) side_.push_back(box.*side);
    example_.add_floats(key, side_);
  };
  add_side(example_key::xmin, &Box::xmin);
  add_side(example_key::xmax, &Box::xmax);
  add_side(example_key::ymin, &Box::ymin);
  add_side(example_key::ymax, &Box::ymax);
  box_labels_.assign(sample.boxes.size(), label);
  example_.add_ints(example_key::box_label, box_labels_);
}

}  // namespace feedrate::formats
