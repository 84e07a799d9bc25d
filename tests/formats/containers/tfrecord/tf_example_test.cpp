#include "formats/containers/tfrecord/tf_example.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using namespace std::string_literals;
using namespace std::string_view_literals;
using Kind = Feature::Kind;

Buffer joined_parts(const std::array<Bytes, 3>& parts) {
  Buffer all;
  for (const Bytes part : parts) append(all, part);
  return all;
}

std::map<std::string, Feature> features_of(Bytes example) {
  std::map<std::string, Feature> features;
  ExampleReader reader(example);
  std::string_view key;
  Feature feature;
  while (reader.next(key, feature)) features[std::string(key)] = feature;
  return features;
}

std::vector<std::int64_t> ints_of(const Feature& feature) {
  std::vector<std::int64_t> values;
  ValueReader reader(feature);
  while (const auto value = reader.next_int()) values.push_back(*value);
  return values;
}

std::vector<float> floats_of(const Feature& feature) {
  std::vector<float> values;
  ValueReader reader(feature);
  while (const auto value = reader.next_float()) values.push_back(*value);
  return values;
}

std::vector<std::string> strings_of(const Feature& feature) {
  std::vector<std::string> values;
  ValueReader reader(feature);
  while (const auto value = reader.next_bytes()) values.emplace_back(as_text(*value));
  return values;
}

// An Example with one feature "k" whose value is `feature`.
Buffer example_with(std::string_view feature) {
  Buffer entry, features, example;
  append_delimited_field(entry, 0x0a, as_bytes("k"));
  append_delimited_field(entry, 0x12, as_bytes(feature));
  append_delimited_field(features, 0x0a, entry);
  append_delimited_field(example, 0x0a, features);
  return example;
}

Feature only_feature(Bytes example) { return features_of(example).at("k"); }

// What TensorFlow writes for the same two features.
TEST(UnitTfExample, an_example_is_written_byte_for_byte_as_protobuf_does) {
  ExampleWriter writer;
  writer.add_int("image/class/label", 66);
  EXPECT_EQ(hex(joined_parts(writer.finish("image/format", as_bytes("JPEG")))),
            "0a360a1a0a11696d6167652f636c6173732f6c6162656c12051a030a0142"
            "0a180a0c696d6167652f666f726d617412080a060a044a504547");
}

TEST(UnitTfExample, empty_lists_are_two_bytes) {
  ExampleWriter writer;
  writer.add_floats("f", {});
  writer.add_ints("i", {});
  EXPECT_EQ(hex(joined_parts(writer.finish("b", {}))),
            "0a1d"
            "0a070a016612021200"
            "0a070a016912021a00"
            "0a090a0162"
            "12040a020a00");
}

TEST(UnitTfExample, every_kind_of_list_comes_back) {
  const std::int64_t ints[] = {0,
                               127,
                               128,
                               -1,
                               std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()};
  const float floats[] = {0.0F, -1.5F, 3e38F};
  const Buffer image(100000, std::byte{7});
  ExampleWriter writer;
  for (int round = 0; round < 2; ++round) {  // a writer can be reused
    writer.clear();
    writer.add_ints("ints", ints);
    writer.add_floats("floats", floats);
    writer.add_bytes("bytes", as_bytes("a\0b"sv));
    const auto parts = writer.finish("image", image);
    EXPECT_EQ(parts[2].data(), image.data()) << "the image is not copied";
    const Buffer example = joined_parts(parts);
    const auto features = features_of(example);
    ASSERT_EQ(features.size(), 4U);
    EXPECT_EQ(ints_of(features.at("ints")), std::vector(std::begin(ints), std::end(ints)));
    EXPECT_EQ(floats_of(features.at("floats")), std::vector(std::begin(floats), std::end(floats)));
    EXPECT_EQ(strings_of(features.at("bytes")), std::vector{"a\0b"s});
    EXPECT_EQ(strings_of(features.at("image")), std::vector{std::string(as_text(image))});
  }
}

TEST(UnitTfExample, numbers_may_be_packed_or_not_or_both) {
  const Buffer ints = example_with(
      "\x1a\x08"
      "\x08\x05"
      "\x0a\x02\x01\x02"
      "\x08\x09"sv);
  EXPECT_EQ(only_feature(ints).kind, Kind::ints);
  EXPECT_EQ(ints_of(only_feature(ints)), (std::vector<std::int64_t>{5, 1, 2, 9}));
  const Buffer floats = example_with(
      "\x12\x0b"
      "\x0d\0\0\x80\x3f"
      "\x0a\x04\0\0\0\x40"sv);
  EXPECT_EQ(only_feature(floats).kind, Kind::floats);
  EXPECT_EQ(floats_of(only_feature(floats)), (std::vector<float>{1.0F, 2.0F}));
}

TEST(UnitTfExample, a_feature_may_say_nothing_or_be_absent) {
  EXPECT_EQ(only_feature(example_with("")).kind, Kind::none);
  const Buffer without_value = [] {
    Buffer features, example;
    append_delimited_field(features, 0x0a, as_bytes("\x0a\x01k"));
    append_delimited_field(example, 0x0a, features);
    return example;
  }();
  EXPECT_EQ(only_feature(without_value).kind, Kind::none);
  EXPECT_TRUE(features_of({}).empty());
}

TEST(UnitTfExample, unknown_fields_are_passed_over_at_every_level) {
  const std::string_view noise =
      "\x50\x01\x5a\x02zz\x65"
      "1234\x69"
      "12345678"sv;
  Buffer feature, entry, features, example;
  const auto add_noise = [&](Buffer& to) { append(to, as_bytes(noise)); };
  add_noise(feature);
  append_delimited_field(feature, 0x1a, as_bytes("\x50\x01\x08\x05"sv));  // noise in the list too
  add_noise(entry);
  append_delimited_field(entry, 0x12, feature);  // the value before its key
  append_delimited_field(entry, 0x0a, as_bytes("k"));
  add_noise(features);
  append_delimited_field(features, 0x0a, entry);
  add_noise(features);
  add_noise(example);
  append_delimited_field(example, 0x0a, features);
  add_noise(example);
  EXPECT_EQ(ints_of(only_feature(example)), std::vector<std::int64_t>{5});
}

TEST(UnitTfExample, of_a_kind_or_key_stated_twice_the_last_counts) {
  const Buffer two_kinds = example_with(
      "\x0a\x03\x0a\x01z"
      "\x1a\x03\x0a\x01\x07"sv);
  EXPECT_EQ(ints_of(only_feature(two_kinds)), std::vector<std::int64_t>{7});
  Buffer twice = example_with("\x1a\x03\x0a\x01\x07"sv);
  append(twice, example_with("\x1a\x03\x0a\x01\x08"sv));  // messages stated twice are merged
  EXPECT_EQ(ints_of(only_feature(twice)), std::vector<std::int64_t>{8});
}

TEST(HostileTfExample, other_records_are_refused_in_words) {
  expect_error([] { features_of(as_bytes("\x0a\x00\x12\x02\x0a\x00"sv)); }, {"SequenceExample"});
  expect_error([] { features_of(as_bytes("0")); }, {"no tf.Example", "byte 1 of 1"});
  expect_error([] { features_of(as_bytes("plain text")); }, {"no tf.Example"});
  expect_error([] { only_feature(example_with("\x1a\x00\x1a\x00"sv)); }, {"list twice"});
}

TEST(HostileTfExample, every_truncation_and_every_huge_number_ends_in_an_error_or_less) {
  ExampleWriter writer;
  writer.add_int("label", 300);
  const float corner = 0.5F;
  writer.add_floats("xmin", {&corner, 1});
  const Buffer whole = joined_parts(writer.finish("image", as_bytes("pixels")));
  const auto read_all = [](Bytes example) {
    std::size_t values = 0;
    for (const auto& [key, feature] : features_of(example)) {
      values += feature.kind == Kind::ints     ? ints_of(feature).size()
                : feature.kind == Kind::floats ? floats_of(feature).size()
                                               : strings_of(feature).size();
    }
    return values;
  };
  const std::size_t all = read_all(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      EXPECT_LT(read_all(Bytes(whole).first(size)), all) << size;
      EXPECT_EQ(size, 0U) << "only nothing at all is a whole message";
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("no tf.Example"), std::string_view::npos);
    }
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Buffer damaged = whole;
    damaged[at] = std::byte{0xff};
    try {
      read_all(damaged);
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("no tf.Example"), std::string_view::npos);
    }
  }
}

TEST(HostileTfExample, a_message_that_protobuf_could_not_read_is_not_written) {
  ExampleWriter writer;
  const std::byte one{};
  const Bytes huge(&one, (std::size_t{1} << 31) - 20);  // only its size is looked at
  expect_error([&] { writer.finish("image", huge); }, {"2^31"});
}

}  // namespace
}  // namespace feedrate::formats
