#include "formats/containers/tfrecord/image_example.h"

#include <gtest/gtest.h>

#include <map>

#include "formats/base/wnid.h"
#include "formats/containers/tfrecord/image_example_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::make_image;
using Kind = Feature::Kind;

Buffer joined(const std::array<Bytes, 3>& parts) {
  Buffer all;
  for (const Bytes part : parts) append(all, part);
  return all;
}

Buffer png_of(Shape shape) {
  Buffer encoded;
  png_codec.encode(make_image(shape, 1), encoded);
  return encoded;
}

// Reads an Example; `example` and `scratch` own what it views.
struct Read {
  explicit Read(Buffer bytes, const LabelRule& rule = {}, const Wishes& wishes = {})
      : example(std::move(bytes)),
        keys(choose_example_keys(example, wishes)),
        parsed(parse_image_example(example, keys, scratch)),
        sample(to_sample(parsed, keys)) {
    sample.label = class_of(parsed, keys, rule);
  }
  Buffer example;
  ExampleKeys keys;
  Scratch scratch;
  ImageExample parsed;
  Sample sample;
};

const ClassNames two_wnids{{"n01440764", "n01443537"}, {"tench, Tinca tinca", "goldfish"}};

// An Example of chosen keys, finished with an image.
class UnitImageExample : public ::testing::Test {
 protected:
  Buffer finish(std::string_view key, Bytes value) { return joined(writer_.finish(key, value)); }
  void expect_refused(std::string_view key, Bytes value,
                      std::initializer_list<std::string_view> parts) {
    expect_error([&] { Read read(finish(key, value)); }, parts);
  }
  ExampleWriter writer_;
};
using HostileImageExample = UnitImageExample;

TEST_F(UnitImageExample, imagenet_s_keys_are_those_of_build_imagenet_data_in_their_order) {
  const Buffer png = png_of({5, 7, 3});
  const Box boxes[] = {{0.0F, 0.25F, 0.5F, 1.0F}, {0.125F, 0.5F, 1.0F, 0.75F}};
  ImageExampleWriter writer(two_wnids);
  EXPECT_TRUE(writer.imagenet());
  Sample sample{.bytes = png, .codec = &png_codec, .shape = {5, 7, 3}, .label = 1};
  sample.name = "n01443537/n01443537_\xff.JPEG";
  sample.boxes = boxes;
  const Buffer example = joined(writer.write(sample));

  std::vector<std::string> keys;
  std::map<std::string, Feature> features;
  ExampleReader reader(example);
  std::string_view key;
  Feature feature;
  while (reader.next(key, feature)) {
    keys.emplace_back(key);
    features[keys.back()] = feature;
  }
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "image/height", "image/width", "image/colorspace", "image/channels",
                      "image/class/label", "image/class/synset", "image/class/text",
                      "image/object/bbox/xmin", "image/object/bbox/xmax", "image/object/bbox/ymin",
                      "image/object/bbox/ymax", "image/object/bbox/label", "image/format",
                      "image/filename", "image/encoded"}));
  const auto ints = [&](const char* name) {
    std::vector<std::int64_t> values;
    ValueReader list(features.at(name));
    while (const auto value = list.next_int()) values.push_back(*value);
    return values;
  };
  const auto text = [&](const char* name) {
    return std::string(as_text(ValueReader(features.at(name)).next_bytes().value()));
  };
  using Ints = std::vector<std::int64_t>;
  EXPECT_EQ(ints("image/height"), Ints{5});
  EXPECT_EQ(ints("image/width"), Ints{7});
  EXPECT_EQ(ints("image/channels"), Ints{3});
  EXPECT_EQ(ints("image/class/label"), Ints{2}) << "counted from 1";
  EXPECT_EQ(ints("image/object/bbox/label"), (Ints{2, 2}));
  EXPECT_EQ(text("image/colorspace"), "RGB");
  EXPECT_EQ(text("image/class/synset"), "n01443537");
  EXPECT_EQ(text("image/class/text"), "goldfish");
  EXPECT_EQ(text("image/format"), "PNG");
  EXPECT_EQ(text("image/filename"), "n01443537_\xff.JPEG");
  EXPECT_EQ(text("image/encoded"), as_text(png));

  const Read read(example, {.first = 1});
  EXPECT_EQ(read.sample.label, 1);
  EXPECT_EQ(read.sample.name, "n01443537_\xff.JPEG");
  EXPECT_EQ(read.sample.shape, (Shape{5, 7, 3}));
  EXPECT_EQ(read.scratch.boxes, (std::vector<Box>(std::begin(boxes), std::end(boxes))));
}

TEST_F(UnitImageExample, other_classes_are_written_as_slim_writes_them) {
  const Buffer png = png_of({28, 28, 1});
  const ClassNames names{{"zero", "one"}, {}};
  ImageExampleWriter writer(names);
  EXPECT_FALSE(writer.imagenet());
  const Sample sample{.bytes = png, .codec = &png_codec, .shape = {28, 28, 1}, .label = 0};
  const Buffer example = joined(writer.write(sample));
  std::vector<std::string_view> keys;
  ExampleReader reader(example);
  std::string_view key;
  Feature feature;
  while (reader.next(key, feature)) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string_view>{"image/class/label", "image/format",
                                                 "image/height", "image/width", "image/encoded"}));
  const Read read(example);
  EXPECT_EQ(read.sample.label, 0);
  EXPECT_EQ(read.parsed.format, "png");
  EXPECT_EQ(read.sample.name, "");
  EXPECT_TRUE(read.scratch.boxes.empty());
}

TEST_F(UnitImageExample, names_and_boxes_are_kept_beside_slim_s_keys) {
  const Buffer png = png_of({4, 4, 3});
  const ClassNames none;
  ImageExampleWriter writer(none);
  const Box box{0.1F, 0.2F, 0.3F, 0.4F};
  Sample sample{.bytes = png, .codec = &png_codec, .shape = {4, 4, 3}, .label = 300};
  sample.name = "cat/\n\xfe.png";
  sample.boxes = {&box, 1};
  const Read read(joined(writer.write(sample)));
  EXPECT_EQ(read.sample.label, 300);
  EXPECT_EQ(read.sample.name, sample.name);
  EXPECT_EQ(read.scratch.boxes, std::vector<Box>{box});
}

TEST_F(UnitImageExample, only_wnids_make_imagenet) {
  for (const char* name : {"n0144076", "n014407644", "x01440764", "n0144076x", "", "cat"}) {
    EXPECT_FALSE(is_wnid(name)) << name;
    const ClassNames names{{"n01440764", name}, {}};
    EXPECT_FALSE(ImageExampleWriter(names).imagenet()) << name;
  }
  EXPECT_TRUE(is_wnid("n01440764"));
  EXPECT_FALSE(ImageExampleWriter(ClassNames{}).imagenet());
}

TEST_F(HostileImageExample, samples_that_the_layouts_cannot_hold_are_refused) {
  const Buffer png = png_of({4, 4, 3});
  ImageExampleWriter writer(two_wnids);
  Sample sample{.bytes = png, .codec = &png_codec, .shape = {4, 4, 3}, .label = 2};
  expect_error([&] { writer.write(sample); }, {"label 2", "2 classes"});
  sample.label = -1;
  expect_error([&] { writer.write(sample); }, {"negative label -1"});
  sample.label = 0;
  sample.codec = &raw_codec;
  expect_error([&] { writer.write(sample); }, {"raw pixels"});
}

TEST_F(UnitImageExample, a_wnid_is_the_synset_the_class_or_in_the_name) {
  const Buffer png = png_of({2, 2, 1});
  const auto wnid = [&](std::string_view key, std::string_view text) {
    writer_.clear();
    writer_.add_int("image/class/label", 7);
    writer_.add_bytes(key, as_bytes(text));
    const Read read(finish("image/encoded", png));
    EXPECT_EQ(read.sample.label, 7);
    EXPECT_EQ(read.parsed.has_synset, !read.parsed.wnid.empty() && key == "image/class/synset");
    return std::string(read.parsed.wnid);
  };
  EXPECT_EQ(wnid("image/class/synset", "n01498041"), "n01498041");
  EXPECT_EQ(wnid("image/class/synset", "7"), "");
  EXPECT_EQ(wnid("image/class/text", "n01498041"), "n01498041");
  EXPECT_EQ(wnid("image/class/text", "stingray"), "");
  EXPECT_EQ(wnid("image/filename", "train/n01498041_12.JPEG"), "n01498041");
  EXPECT_EQ(wnid("image/filename", "n01498041"), "n01498041");
  EXPECT_EQ(wnid("image/filename", "n0149804_12.JPEG"), "");
  writer_.clear();
  writer_.add_int("image/class/label", 7);
  writer_.add_int("image/class/text", 1);  // of another tool: not needed
  EXPECT_EQ(Read(finish("image/encoded", png)).sample.label, 7);
}

TEST_F(HostileImageExample, labels_that_are_no_classes_are_refused) {
  const Buffer png = png_of({2, 2, 1});
  expect_refused("image/encoded", png, {"no key of labels", "?label=KEY", "image/encoded (bytes)"});
  writer_.clear();
  writer_.add_int("label", std::int64_t{1} << 40);
  expect_refused("image", png, {"1099511627776", "is not a class number"});
  writer_.clear();
  writer_.add_floats("label", std::vector<float>{1.5F});
  expect_refused("image", png, {"the label 1.5", "is not a class number"});
  writer_.clear();
  writer_.add_bytes("label", as_bytes("a cat"));
  expect_refused("image", png, {"the label 'a cat' is not a class number"});
}

TEST_F(UnitImageExample, labels_are_numbers_in_any_form) {
  const Buffer png = png_of({2, 2, 1});
  writer_.add_floats("label", std::vector<float>{3.0F});
  EXPECT_EQ(Read(finish("image", png)).sample.label, 3);
  writer_.clear();
  writer_.add_bytes("label", as_bytes("3\n"));
  EXPECT_EQ(Read(finish("image", png)).sample.label, 3);
  writer_.clear();
  writer_.add_ints("label", std::vector<std::int64_t>{4, 2});
  const Read several(finish("image", png));
  EXPECT_EQ(several.sample.label, 4);
  EXPECT_EQ(several.scratch.labels, (std::vector<float>{4, 2}));
}

TEST_F(UnitImageExample, the_first_object_has_the_class) {
  const Buffer png = png_of({2, 2, 1});
  writer_.add_ints("image/object/class/label", std::vector<std::int64_t>{5, 7, 5});
  writer_.add_int("image/height", 2);
  writer_.add_bytes("image/object/class/text", as_bytes("cat"));
  const Read objects(finish("image/encoded", png));
  EXPECT_EQ(objects.keys.label, "image/object/class/label");
  EXPECT_EQ(objects.sample.label, 5);
  EXPECT_TRUE(objects.scratch.labels.empty());
  writer_.clear();
  writer_.add_ints("image/object/class/label", {});
  expect_refused("image/encoded", png, {"no label", "no object"});
}

TEST_F(UnitImageExample, other_keys_are_found_or_named) {
  const Buffer png = png_of({2, 2, 1});
  writer_.add_int("class", 3);  // Kaggle's flowers
  writer_.add_bytes("id", as_bytes("0a1b"));
  EXPECT_EQ(Read(finish("image", png)).sample.label, 3);
  const auto two = [&] {
    writer_.clear();
    writer_.add_int("height", 2);
    writer_.add_int("coarse", 3);
    writer_.add_int("fine", 4);
    writer_.add_bytes("thumb", png);
    return finish("photo", png);
  };
  expect_error([&] { Read read(two()); },
               {"several keys of images (bytes)", "?image=KEY names it", "photo (bytes)"});
  expect_error(
      [&] { Read read(two(), {}, {.image = "photo", .label = "", .shape = {}, .bgr = {}}); },
      {"several keys of labels", "?label=KEY names it", "coarse (whole numbers)"});
  expect_error(
      [&] { Read read(two(), {}, {.image = "photo", .label = "x", .shape = {}, .bgr = {}}); },
      {"no key 'x' of labels"});
  const Wishes wishes{.image = "photo", .label = "fine", .shape = {}, .bgr = {}};
  EXPECT_EQ(Read(two(), {}, wishes).sample.label, 4);
}

TEST_F(UnitImageExample, a_wished_shape_is_that_of_raw_pixels) {
  const Image image = make_image({2, 5, 3}, 9);
  const Wishes wishes{.image = "x", .label = "y", .shape = Shape{2, 5, 3}, .bgr = {}};
  writer_.add_int("y", 4);
  const Read read(finish("x", image.pixels), {}, wishes);
  EXPECT_EQ(testing::decode_sample(read.sample).pixels, image.pixels);
  writer_.clear();
  writer_.add_int("y", 4);
  expect_error([&] { Read other(finish("x", Buffer(29)), {}, wishes); },
               {"'x' has 29 bytes, which are not 2x5x3 pixels"});
}

TEST_F(UnitImageExample, raw_pixels_with_a_stated_size_are_interleaved) {
  const Image image = make_image({3, 5, 3}, 9);
  writer_.add_int("height", 3);
  writer_.add_int("width", 5);
  writer_.add_int("depth", 3);
  writer_.add_int("label", 4);
  const Read read(finish("image_raw", image.pixels));
  EXPECT_EQ(read.sample.codec, &raw_codec);
  EXPECT_EQ(read.sample.shape, (Shape{3, 5, 3}));
  EXPECT_EQ(testing::decode_sample(read.sample).pixels, image.pixels);
  writer_.clear();  // without a depth, the size decides
  writer_.add_int("image/height", 3);
  writer_.add_int("image/width", 5);
  writer_.add_bytes("image/format", as_bytes("raw"));
  writer_.add_int("image/class/label", 4);
  EXPECT_EQ(Read(finish("image/encoded", Bytes(image.pixels).first(15))).sample.shape,
            (Shape{3, 5, 1}));
}

TEST_F(UnitImageExample, raw_digits_and_cifar_planes_are_known_by_their_bytes) {
  writer_.add_int("label", 4);
  Buffer digit(784, std::byte{3});
  digit[0] = std::byte{'B'};  // like the start of a BMP file: the size decides
  digit[1] = std::byte{'M'};
  EXPECT_EQ(Read(finish("img_raw", digit)).sample.shape, (Shape{28, 28, 1}));
  Buffer planes(3072, std::byte{1});
  std::fill(planes.begin() + 1024, planes.begin() + 2048, std::byte{2});
  std::fill(planes.begin() + 2048, planes.end(), std::byte{3});
  writer_.clear();
  writer_.add_int("label", 4);
  const Read read(finish("image", planes));
  EXPECT_EQ(read.sample.shape, (Shape{32, 32, 3}));
  const Image image = testing::decode_sample(read.sample);
  EXPECT_EQ(image.pixels[3], std::byte{1});
  EXPECT_EQ(image.pixels[4], std::byte{2});
  EXPECT_EQ(image.pixels[5], std::byte{3});
}

TEST_F(HostileImageExample, raw_pixels_of_no_certain_shape_are_refused) {
  writer_.add_int("label", 4);
  expect_refused("img_raw", Buffer(3072), {"'img_raw' has 3072 bytes", "no height and width"});
  writer_.clear();
  writer_.add_int("label", 4);
  writer_.add_int("height", 28);
  writer_.add_int("width", 28);
  expect_refused("image_raw", Buffer(3136), {"3136 bytes", "not 28x28", "1 or 3"});
  for (const std::int64_t side : {std::int64_t{0}, std::int64_t{-28}, std::int64_t{1} << 62}) {
    writer_.clear();
    writer_.add_int("label", 4);
    writer_.add_int("height", side);
    writer_.add_int("width", 28);
    writer_.add_int("depth", 3);
    expect_refused("image_raw", Buffer(784), {"784 bytes", std::to_string(side) + "x28", "3 ch"});
  }
  writer_.clear();
  writer_.add_int("label", 4);
  expect_refused("image", as_bytes("GIF89a and so on"), {"no codec", "GIF"});
  writer_.clear();
  writer_.add_int("image/class/label", 4);
  expect_refused("image/encoded", Buffer(784), {"no codec knows", "784 bytes"});
}

TEST_F(HostileImageExample, examples_without_an_image_tell_their_keys) {
  writer_.add_floats("f1", std::vector<float>{1.0F});
  expect_refused("y", {}, {"no key that is surely one of images", "f1 (floats), y (bytes)"});
  expect_error([] { choose_example_keys({}, {}); }, {"no tf.Example", "holds no features"});
  writer_.clear();
  writer_.add_int("label", 1);
  expect_refused("image/encoded", {}, {"'image/encoded' is empty"});
  writer_.clear();
  writer_.add_int("label", 1);
  writer_.add_floats("image", std::vector<float>(784));
  expect_refused("z", {}, {"a key 'image', but not of images", "image (floats)"});
}

TEST_F(UnitImageExample, boxes_are_put_in_order_and_clamped_and_those_that_are_none_counted) {
  const Buffer png = png_of({2, 2, 1});
  const auto expect = [&](const std::array<std::vector<float>, 4>& sides,
                          const std::vector<Box>& boxes, std::uint32_t left_out) {
    writer_.clear();
    writer_.add_int("label", 4);
    writer_.add_floats("image/object/bbox/xmin", sides[0]);
    writer_.add_floats("image/object/bbox/ymin", sides[1]);
    writer_.add_floats("image/object/bbox/xmax", sides[2]);
    writer_.add_floats("image/object/bbox/ymax", sides[3]);
    const Read read(finish("image", png));
    EXPECT_EQ(read.sample.label, 4);
    EXPECT_EQ(read.scratch.boxes, boxes);
    EXPECT_EQ(read.sample.boxes_left_out, left_out);
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Box some{0.25F, 0.25F, 0.5F, 0.5F};
  expect({{{0.25F}, {0.25F}, {0.5F}, {0.5F}}}, {some}, 0);
  expect({{{-0.1F}, {0.25F}, {1.0000001F}, {0.5F}}}, {{0, 0.25F, 1, 0.5F}}, 0);
  expect({{{0.5F}, {0.25F}, {0.25F}, {0.5F}}}, {some}, 0);
  expect({{{0.1F, 0.25F}, {0.5F, 0.25F}, {0.9F, 0.5F}, {0.5F, 0.5F}}}, {some}, 1);
  expect({{{10, 0.25F}, {20, 0.25F}, {30, 0.5F}, {40, 0.5F}}}, {some}, 1);
  expect({{{nan}, {0.1F}, {0.9F}, {0.9F}}}, {}, 1);
  expect({{{0.25F, 0.1F}, {0.25F}, {0.5F}, {0.5F}}}, {some}, 1);
  expect({{{0.1F}, {0.1F}, {0.9F}, {}}}, {}, 1);
  writer_.clear();  // of pixels, as some scripts write them
  writer_.add_int("label", 4);
  for (const char* side : {"xmin", "ymin"}) writer_.add_int(join("image/object/bbox/", side), 2);
  for (const char* side : {"xmax", "ymax"}) writer_.add_int(join("image/object/bbox/", side), 90);
  EXPECT_EQ(Read(finish("image", png)).sample.boxes_left_out, 1U);
  writer_.clear();
  writer_.add_int("label", 4);
  writer_.add_bytes("image/object/bbox/xmin", as_bytes("left"));
  EXPECT_EQ(Read(finish("image", png)).sample.boxes_left_out, 1U);
}

}  // namespace
}  // namespace feedrate::formats
