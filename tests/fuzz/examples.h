#pragma once
// tf.Examples for the harnesses: seeds, and checks that hold for any input.

#include <bit>
#include <string>

#include "formats/containers/tfrecord/image_example.h"
#include "formats/containers/tfrecord/tf_example.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

/// A feature with all its values; floats as their bits, so that NaNs compare equal.
struct Values {
  std::string key;
  Feature::Kind kind = Feature::Kind::none;
  std::vector<std::string> bytes;
  std::vector<std::uint32_t> floats;
  std::vector<std::int64_t> ints;
  bool operator==(const Values&) const = default;
};

inline Values values_of(std::string_view key, const Feature& feature) {
  Values values;
  values.key = key;
  values.kind = feature.kind;
  ValueReader reader(feature);
  switch (feature.kind) {
    case Feature::Kind::none:
      break;
    case Feature::Kind::bytes:
      while (const auto value = reader.next_bytes()) values.bytes.emplace_back(as_text(*value));
      break;
    case Feature::Kind::floats:
      while (const auto value = reader.next_float()) {
        values.floats.push_back(std::bit_cast<std::uint32_t>(*value));
      }
      break;
    case Feature::Kind::ints:
      while (const auto value = reader.next_int()) values.ints.push_back(*value);
      break;
  }
  return values;
}

inline std::vector<Values> features_of(Bytes example) {
  std::vector<Values> all;
  ExampleReader reader(example);
  std::string_view key;
  Feature feature;
  while (reader.next(key, feature)) {
    require(inside(as_bytes(key), example), "a key lies inside the message");
    all.push_back(values_of(key, feature));
  }
  return all;
}

// The writer writes one bytes value for each key; it cannot write features with another number of
// them, or with no list set.
inline bool writable(const Values& values) {
  return values.kind != Feature::Kind::none &&
         (values.kind != Feature::Kind::bytes || values.bytes.size() == 1);
}

inline Buffer rewritten(const std::vector<Values>& features, std::string_view last, Bytes image) {
  ExampleWriter writer;
  for (const Values& values : features) {
    std::vector<float> floats;
    for (const std::uint32_t bits : values.floats) floats.push_back(std::bit_cast<float>(bits));
    if (values.kind == Feature::Kind::bytes) {
      writer.add_bytes(values.key, as_bytes(values.bytes.front()));
    } else if (values.kind == Feature::Kind::floats) {
      writer.add_floats(values.key, floats);
    } else {
      writer.add_ints(values.key, values.ints);
    }
  }
  Buffer message;
  for (const Bytes part : writer.finish(last, image)) append(message, part);
  return message;
}

inline void check_image(Bytes example) {
  Scratch scratch;
  accepts([&] {
    const ExampleKeys keys = choose_example_keys(example, {});
    const ImageExample image = parse_image_example(example, keys, scratch);
    require(inside(image.image, example), "the image lies inside the message");
    for (const Box& box : scratch.boxes)
      require(box.xmin < box.xmax && box.ymin < box.ymax, "boxes have areas");
    const Sample sample = to_sample(image, keys);
    require(sample.codec != nullptr && sample.shape.plausible(), "a sample can be decoded");
    class_of(image, keys, {});
  });
}

inline void check_example(Bytes example) {
  check_image(example);
  std::vector<Values> features;
  if (!accepts([&] { features = features_of(example); })) return;
  std::erase_if(features, [](const Values& values) { return !writable(values); });
  const Buffer message = rewritten(features, "image", as_bytes("pixels"));
  std::vector<Values> again = features_of(message);
  require(!again.empty() && again.back().key == "image" &&
              again.back().bytes == std::vector<std::string>{"pixels"},
          "the last value is the image");
  again.pop_back();
  require(again == features, "an Example reads as it was written");
}

inline std::vector<Buffer> sound_examples() {
  std::vector<Buffer> all;
  const auto add = [&](const std::vector<Values>& features) {
    all.push_back(rewritten(features, "image/encoded", as_bytes("\xff\xd8\xff")));
  };
  using Kind = Feature::Kind;
  add({});
  add({{"image/class/label", Kind::ints, {}, {}, {1, -1}},
       {"image/object/bbox/xmin", Kind::floats, {}, {0x3f000000, 0}, {}},
       {"image/filename", Kind::bytes, {"a.JPEG"}, {}, {}},
       {"none", Kind::ints, {}, {}, {}}});
  // Unpacked values, an unset feature, unknown fields.
  Buffer list, feature, entry, features, example;
  append_varint_field(list, wire_key(1, Wire::varint), 5);
  append_varint_field(list, wire_key(2, Wire::varint), 1);
  append_varint_field(list, wire_key(1, Wire::varint), -1);
  append_delimited_field(feature, wire_key(3, Wire::delimited), list);
  append_delimited_field(entry, wire_key(1, Wire::delimited), as_bytes("label"));
  append_delimited_field(entry, wire_key(2, Wire::delimited), feature);
  append_delimited_field(features, wire_key(1, Wire::delimited), entry);
  append_delimited_field(features, wire_key(1, Wire::delimited), as_bytes("\x0a\x01k"));
  append_delimited_field(example, wire_key(1, Wire::delimited), features);
  append_varint_field(example, wire_key(7, Wire::varint), 1);
  all.push_back(example);
  return all;
}

}  // namespace feedrate::fuzz
