#include "formats/containers/tfrecord/image_example.h"

#include <algorithm>
#include <limits>

#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/base/label_problem.h"
#include "formats/base/text.h"
#include "formats/base/wnid.h"
#include "formats/containers/tfrecord/tf_example.h"

namespace feedrate::formats {
namespace {

using FeatureKind = Feature::Kind;

enum Field : std::size_t {
  image,
  format,
  height,
  width,
  channels,
  label,
  synset,
  text,
  filename,
  xmin,
  ymin,
  xmax,
  ymax,
  fields
};

constexpr std::size_t max_keys_named = 8;                           // listed in an error
constexpr std::size_t digit_bytes = 784;                            // MNIST's 28x28
constexpr std::size_t cifar_bytes = 3072;                           // CIFAR's 3x32x32
constexpr float no_side = std::numeric_limits<float>::quiet_NaN();  // of a box
constexpr std::string_view cifar_key = "image";  // in TensorFlow's CIFAR tutorial

struct Name {
  std::string_view key;
  Field field;
};

constexpr Name feature_names[] = {
    {example_key::format, format},
    {example_key::height, height},
    {"height", height},
    {example_key::width, width},
    {"width", width},
    {example_key::channels, channels},
    {"depth", channels},
    {"channels", channels},
    {example_key::synset, synset},
    {example_key::text, text},
    {example_key::filename, filename},
    {"file_name", filename},
    {example_key::xmin, xmin},
    {example_key::ymin, ymin},
    {example_key::xmax, xmax},
    {example_key::ymax, ymax},
};

struct Found {
  std::string_view key;
  Feature feature;
};
using Features = std::array<Found, fields>;

Features find_features(Bytes example, const ExampleKeys& keys) {
  Features found;
  ExampleReader reader(example);
  Found next;
  while (reader.next(next.key, next.feature)) {
    if (next.key == keys.image) found[image] = next;
    if (next.key == keys.label) found[label] = next;
    const auto name = std::find_if(std::begin(feature_names), std::end(feature_names),
                                   [&](const Name& row) { return row.key == next.key; });
    if (name != std::end(feature_names)) found[name->field] = next;
  }
  return found;
}

void require_kind(const Found& found, FeatureKind kind) {
  if (found.feature.kind == kind) return;
  throw Error(join("'", found.key, "' holds ", kind_name(found.feature.kind), ", expected ",
                   kind_name(kind)));
}

// The only value of a key; nothing when the key is absent or empty.
template <class Value, class Next>
std::optional<Value> only_value(const Found& found, FeatureKind kind, const Next& next) {
  if (found.feature.kind == FeatureKind::none) return std::nullopt;
  require_kind(found, kind);
  ValueReader values(found.feature);
  const std::optional<Value> value = next(values);
  if (value && next(values))
    throw Error(join("'", found.key, "' holds several values, expected one"));
  return value;
}

std::optional<Bytes> only_bytes(const Found& found) {
  return only_value<Bytes>(found, FeatureKind::bytes,
                           [](ValueReader& values) { return values.next_bytes(); });
}

std::optional<std::int64_t> only_int(const Found& found) {
  return only_value<std::int64_t>(found, FeatureKind::ints,
                                  [](ValueReader& values) { return values.next_int(); });
}

// Fills what `example` says of its label: a number, several numbers, or text, which may be that of a number.
void read_label(const Found& found, const ExampleKeys& keys, ImageExample& example,
                std::vector<float>& labels) {
  labels.clear();
  ValueReader values(found.feature);
  const auto fraction = [&](float value) {
    labels.push_back(value);
    if (labels.size() > 1) return;
    example.label = whole_number(value);
    if (!example.label) throw Error(join("the label ", value, " is not a class number"));
  };
  switch (found.feature.kind) {
    case FeatureKind::none:
      return;
    case FeatureKind::ints:
      while (const auto value = values.next_int()) {
        labels.push_back(static_cast<float>(*value));
        if (labels.size() == 1) example.label = *value;
      }
      break;
    case FeatureKind::floats:
      while (const auto value = values.next_float()) fraction(*value);
      break;
    case FeatureKind::bytes: {
      const std::optional<Bytes> text = values.next_bytes();
      if (!text) return;
      if (!keys.of_objects() && values.next_bytes()) {
        throw Error(join("'", found.key, "' holds several texts, expected one"));
      }
      example.label_text = as_text(*text);
      example.label = parse_number<std::int64_t>(trimmed(example.label_text));
      return;
    }
  }
  if (labels.size() < 2 || keys.of_objects()) labels.clear();
}

// Returns how many are none: sides that are no fractions, or lack the other sides.
std::uint32_t read_boxes(const Features& found, std::vector<Box>& boxes) {
  boxes.clear();
  std::uint32_t left_out = 0;
  std::array<ValueReader, 4> sides = {
      ValueReader(found[xmin].feature), ValueReader(found[ymin].feature),
      ValueReader(found[xmax].feature), ValueReader(found[ymax].feature)};
  const auto next_side = [&](Field field, ValueReader& values) -> std::optional<float> {
    switch (found[field].feature.kind) {
      case FeatureKind::floats:
        return values.next_float();
      case FeatureKind::ints:
        if (const auto side = values.next_int()) return static_cast<float>(*side);
        return std::nullopt;
      case FeatureKind::bytes:
        if (values.next_bytes()) return no_side;
        return std::nullopt;
      case FeatureKind::none:
        return std::nullopt;
    }
    return std::nullopt;
  };
  for (;;) {
    const auto left = next_side(xmin, sides[0]), top = next_side(ymin, sides[1]);
    const auto right = next_side(xmax, sides[2]), bottom = next_side(ymax, sides[3]);
    if (!left && !top && !right && !bottom) return left_out;
    take_box({left.value_or(no_side), top.value_or(no_side), right.value_or(no_side),
              bottom.value_or(no_side)},
             boxes, left_out);
  }
}

// Height × width × channels as stated, or nothing when they cannot be an image's.
std::optional<Shape> stated_shape(const ImageExample& example) {
  constexpr std::int64_t max_side = 65535;
  const auto side = [](std::int64_t value) { return value >= 1 && value <= max_side; };
  if (!side(*example.height) || !side(*example.width)) return std::nullopt;
  const auto pixels = static_cast<std::uint64_t>(*example.height * *example.width);
  const std::uint64_t channels = example.channels ? static_cast<std::uint64_t>(*example.channels)
                                                  : example.image.size() / pixels;
  if (channels != 1 && channels != 3) return std::nullopt;
  const Shape shape{static_cast<std::uint32_t>(*example.height),
                    static_cast<std::uint32_t>(*example.width),
                    static_cast<std::uint32_t>(channels)};
  return shape.plausible() ? std::optional(shape) : std::nullopt;
}

// The shape of these raw pixels by the rules in image_example.h, or nothing.
std::optional<Shape> raw_shape(const ImageExample& example, const ExampleKeys& keys) {
  const std::size_t size = example.image.size();
  if (keys.shape) return keys.shape->bytes() == size ? keys.shape : std::nullopt;
  if (example.height && example.width) {
    const std::optional<Shape> shape = stated_shape(example);
    return shape && shape->bytes() == size ? shape : std::nullopt;
  }
  if (size == digit_bytes) return Shape{28, 28, 1};
  if (size == cifar_bytes && example.image_key == cifar_key) return Shape{32, 32, 3};
  return std::nullopt;
}

[[noreturn]] void refuse_raw(const ImageExample& example, const ExampleKeys& keys) {
  if (!keys.shape && !looks_like(example.image).empty())
    codec_for(example.image);  // throws, naming the type
  const std::string found = join("'", example.image_key, "' has ", example.image.size(), " bytes");
  if (keys.shape)
    throw Error(join(found, ", which are not ", keys.shape->height, "x", keys.shape->width, "x",
                     keys.shape->channels, " pixels"));
  if (example.height && example.width) {
    const std::string channels = example.channels ? join(*example.channels) : "1 or 3";
    throw Error(join(found, ", which are not ", *example.height, "x", *example.width, " pixels of ",
                     channels, " channels, 8 bits each"));
  }
  throw Error(join(
      found, ", which are no image file; their shape as raw pixels is unknown: the ",
      "record states no height and width; behind the path, ?shape=HEIGHTxWIDTHxCHANNELS does"));
}

// Of the first object, where there are several; empty where it is no text.
std::string_view class_text(const Found& found) {
  if (found.feature.kind != FeatureKind::bytes) return {};
  return as_text(ValueReader(found.feature).next_bytes().value_or(Bytes()));
}

// The wnid that a class is called, or that the name of an image begins with, as ImageNet's own do; empty without one.
std::string_view wnid_in(std::string_view class_text, std::string_view name) {
  if (is_wnid(class_text)) return class_text;
  name.remove_prefix(name.rfind('/') + 1);
  const std::string_view start = name.substr(0, name.find('_'));
  return is_wnid(start) ? start : "";
}

// Throws Error for a label that counts from the number from which the other records do not.
void expect_place(const ImageExample& example, const LabelRule& rule) {
  const std::optional<std::int32_t> place = imagenet_label(example.wnid);
  if (!place || *example.label != *place + 1 - rule.first) return;
  throw Error(join("the label ", *example.label, " of ", example.wnid, " counts from ",
                   1 - rule.first, ", the labels of other records from ", rule.first));
}

}  // namespace

ImageExample parse_image_example(Bytes example, const ExampleKeys& keys, Scratch& scratch) {
  const Features found = find_features(example, keys);
  ImageExample result;
  const std::optional<Bytes> pixels = only_bytes(found[image]);
  if (!pixels) throw Error(join("holds no image: there is no '", keys.image, "'"));
  result.image = *pixels;
  result.image_key = found[image].key;
  if (result.image.empty()) throw Error(join("'", result.image_key, "' is empty"));
  const auto text_of = [&](Field field) {
    return as_text(only_bytes(found[field]).value_or(Bytes()));
  };
  result.format = text_of(format);
  result.name = text_of(filename);
  const std::string_view id = text_of(synset);
  result.has_synset = is_wnid(id);
  result.wnid = result.has_synset ? id : wnid_in(class_text(found[text]), result.name);
  result.height = only_int(found[height]);
  result.width = only_int(found[width]);
  result.channels = only_int(found[channels]);
  read_label(found[label], keys, result, scratch.labels);
  result.boxes_left_out = read_boxes(found, scratch.boxes);
  return result;
}

std::int32_t class_of(const ImageExample& example, const ExampleKeys& keys, const LabelRule& rule) {
  if (!example.label && !example.label_text.empty()) {
    constexpr std::size_t max_shown = 40;
    throw Error(
        join("the label '", example.label_text.substr(0, max_shown), "' is not a class number"));
  }
  if (!example.label)
    throw Error(join("no label: there is no '", keys.label, "'",
                     keys.of_objects() ? ", and so no object" : ""));
  if (rule.first > 0 && *example.label == 0) {
    throw Error(
        "the label 0 is no class: the labels of this set count from 1, and 0 is the background");
  }
  if (rule.is_imagenet) expect_place(example, rule);
  constexpr std::int64_t min_label = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t max_label = std::numeric_limits<std::int32_t>::max();
  if (*example.label < min_label || *example.label > max_label) {
    throw Error(join("the label ", *example.label, " is not a class number"));
  }
  return static_cast<std::int32_t>(*example.label - rule.first);
}

Sample to_sample(const ImageExample& example, const ExampleKeys& keys) {
  Sample sample;
  sample.bytes = example.image;
  sample.name = example.name;
  sample.boxes_left_out = example.boxes_left_out;
  const bool may_be_raw = keys.shape || example.image_key != example_key::encoded ||
                          example.format == "raw" || example.format == "RAW";
  if (!may_be_raw || (!keys.shape && codec_of(example.image) != nullptr)) {
    sample.codec = &codec_for(example.image);
    sample.shape = sample.codec->shape(example.image);
    return sample;
  }
  const std::optional<Shape> shape = raw_shape(example, keys);
  if (!shape) refuse_raw(example, keys);
  sample.codec = &raw_codec;
  sample.shape = *shape;
  const bool stated = keys.shape || (example.height && example.width);
  if (!stated && shape->channels == 3) sample.order = PixelOrder::planar_rgb;
  return sample;
}

}  // namespace feedrate::formats
