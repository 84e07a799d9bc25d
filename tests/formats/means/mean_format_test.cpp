#include "formats/means/mean_format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/format_pairs.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;
using namespace std::string_literals;

/// The value at (y, x, channel) encodes its place: 100 y + 10 x + channel.
MeanImage telling_mean(Shape shape) {
  MeanImage mean{shape, {}};
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        mean.values.push_back(100 * y + 10 * x + c);
      }
    }
  }
  return mean;
}

std::string written(const std::string& name, const MeanImage& mean,
                    std::optional<MeanLayout> layout = {}) {
  TempDirectory temporary;
  write_mean(temporary / name, mean, layout);
  return read_text(temporary / name);
}

MeanImage read_back(const std::string& name, std::string_view content,
                    std::optional<MeanLayout> layout = {}) {
  TempDirectory temporary;
  std::ofstream(temporary / name, std::ios::binary) << content;  // write_text waits for the disk
  return read_mean(temporary / name, layout);
}

std::string floats(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

TEST(UnitMeanFormat, caffe_s_bytes_are_those_of_compute_image_mean) {
  EXPECT_EQ(written("mean.binaryproto", telling_mean({1, 2, 3})),
            "\x08\x01\x10\x03\x18\x01\x20\x02\x2a\x18"s + floats({2, 12, 1, 11, 0, 10}));
  EXPECT_EQ(written("mean.binaryproto", {{256, 256, 3}, std::vector<double>(196608)}).size(),
            786'446U);
}

TEST(UnitMeanFormat, mxnet_s_bytes_are_those_of_its_image_iterator) {
  const std::string bytes = written("mean.nd", telling_mean({1, 2, 3}));
  EXPECT_EQ(bytes,
            "\x12\x01\0\0\0\0\0\0"
            "\0\0\0\0\0\0\0\0"
            "\x01\0\0\0\0\0\0\0"
            "\xc9\xfa\x93\xf9"
            "\0\0\0\0"
            "\x03\0\0\0"
            "\x03\0\0\0\0\0\0\0"
            "\x01\0\0\0\0\0\0\0"
            "\x02\0\0\0\0\0\0\0"
            "\x01\0\0\0"
            "\0\0\0\0"
            "\0\0\0\0"s +
                floats({0, 10, 1, 11, 2, 12}) +
                "\x01\0\0\0\0\0\0\0"
                "\x08\0\0\0\0\0\0\0"
                "mean_img"s);
}

TEST(UnitMeanFormat, cntk_s_values_are_interleaved_blue_first_and_lines_are_wrapped) {
  const std::string xml = written("mean.xml", telling_mean({1, 4, 3}));
  EXPECT_NE(xml.find("<Channel>3</Channel>\n  <Row>1</Row>\n  <Col>4</Col>"), std::string::npos);
  EXPECT_NE(xml.find("<data>2.000000e+00 1.000000e+00 0.000000e+00 1.200000e+01"),
            std::string::npos)
      << xml;
  std::size_t longest = 0;
  for (std::string_view rest = xml; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    longest = std::max(longest, end);
    rest.remove_prefix(end + 1);
  }
  EXPECT_LT(longest, 130U);
}

TEST(UnitMeanFormat, every_dialect_returns_what_it_was_given_in_every_layout) {
  for (const MeanFormat* format : mean_formats()) {
    for (const Shape shape : {Shape{5, 4, 3}, Shape{3, 7, 1}}) {
      const MeanImage mean = telling_mean(shape);
      const std::string name = join("m", format->extension());
      for (const auto layout : {MeanLayout::interleaved_rgb, MeanLayout::interleaved_bgr,
                                MeanLayout::planar_rgb, MeanLayout::planar_bgr, format->layout()}) {
        const MeanImage back = read_back(name, written(name, mean, layout), layout);
        EXPECT_EQ(back.shape, shape) << name;
        EXPECT_EQ(back.values, mean.values) << name;
      }
    }
  }
}

TEST(UnitMeanFormat, a_file_is_told_by_its_extension_and_content) {
  TempDirectory temporary;
  for (const MeanFormat* format : mean_formats()) {
    const auto file = temporary / join("m", format->extension());
    write_mean(file, telling_mean({2, 2, 3}));
    EXPECT_EQ(mean_format_of(file), format);
  }
  write_text(temporary / "other.xml", "<annotation></annotation>");
  write_text(temporary / "other.nd", "nothing");
  EXPECT_EQ(mean_format_of(temporary / "other.xml"), nullptr);
  EXPECT_EQ(mean_format_of(temporary / "other.nd"), nullptr);
  EXPECT_EQ(mean_format_of(temporary / "none.xml"), nullptr);
  expect_error(
      [&] {
        write_mean(temporary / "mean.npy", telling_mean({2, 2, 3}));
      },
      {"mean.npy", ".binaryproto (caffe), .xml (cntk), .nd (mxnet)"});
}

TEST(UnitMeanFormat, caffe_s_shape_field_doubles_and_loose_values_are_read) {
  // shape {1, 3, 1, 1} packed, three packed floats: pycaffe's array_to_blobproto.
  const std::string pycaffe = "\x3a\x06\x0a\x04\x01\x03\x01\x01\x2a\x0c"s + floats({1, 2, 3});
  EXPECT_EQ(read_back("m.binaryproto", pycaffe).values, (std::vector<double>{3, 2, 1}));
  const std::string loose = "\x3a\x06\x08\x03\x08\x01\x08\x01\x2d"s + floats({1}) + "\x2d" +
                            floats({2}) + "\x2d" + floats({3});
  EXPECT_EQ(read_back("m.binaryproto", loose).values, (std::vector<double>{3, 2, 1}));
  const std::string doubled = "\x08\x01\x10\x01\x18\x01\x20\x01\x42\x08\0\0\0\0\0\0\xf8\x3f"s;
  EXPECT_EQ(read_back("m.binaryproto", doubled).values, (std::vector<double>{1.5}));
}

TEST(UnitMeanFormat, every_container_that_wants_a_mean_leaves_one_beside_the_images) {
  const MeanImage mean = telling_mean({4, 5, 3});
  for (const testing::FormatPair& pair : testing::format_pairs()) {
    if (!pair.container->wants_mean()) continue;
    TempDirectory temporary;
    const auto set = temporary / "set";
    testing::write_dataset(*pair.container, *pair.codec, set,
                           testing::make_examples(mean.shape, 3, true), &mean);
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(set)) {
      if (mean_format_of(entry.path()) == nullptr) continue;
      EXPECT_EQ(read_mean(entry.path()).values, mean.values) << entry.path();
      ++found;
    }
    EXPECT_EQ(found, 1U) << pair.name();
  }
}

TEST(UnitMeanFormat, the_mean_of_a_raw_lmdb_without_names_has_its_planes_in_the_lmdb_s_order) {
  const MeanImage mean = telling_mean({4, 5, 3});
  TempDirectory temporary;
  testing::write_dataset(container("lmdb"), raw_codec, temporary / "set",
                         testing::make_examples(mean.shape, 3), &mean);
  const auto file = temporary / "set/mean.binaryproto";
  EXPECT_EQ(read_mean(file, MeanLayout::planar_rgb).values, mean.values);
  testing::write_dataset(container("lmdb"), png_codec, temporary / "png",
                         testing::make_examples(mean.shape, 3), &mean);
  EXPECT_EQ(read_mean(temporary / "png/mean.binaryproto").values, mean.values);
}

TEST(InteropMeanFormat, cntk_s_own_mean_of_cifar_is_read_in_the_layout_it_was_written_in) {
  const auto file = testing::data_file("vectors/cntk/CIFAR-10_mean.xml");
  if (!file) GTEST_SKIP() << "needs vectors/cntk/CIFAR-10_mean.xml of the real data";
  const MeanImage mean = read_mean(*file, MeanLayout::planar_rgb);
  ASSERT_EQ(mean.shape, (Shape{32, 32, 3}));
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < mean.values.size(); ++i) sum[i % 3] += mean.values[i];
  EXPECT_NEAR(sum[0] / 1024 / 255, 0.4914, 5e-5);  // the training set's known channel means
  EXPECT_NEAR(sum[1] / 1024 / 255, 0.4822, 5e-5);
  EXPECT_NEAR(sum[2] / 1024 / 255, 0.4465, 5e-5);
}

TEST(HostileMeanFormat, every_truncation_names_the_file) {
  for (const MeanFormat* format : mean_formats()) {
    const std::string name = join("cut", format->extension());
    std::string content = written(name, telling_mean({3, 4, 3}));
    while (content.ends_with('\n')) content.pop_back();
    for (std::size_t size = 0; size < content.size(); ++size) {
      expect_error([&] { read_back(name, content.substr(0, size)); }, {name});
    }
  }
}

TEST(HostileMeanFormat, two_thousand_mutations_are_errors_or_finite_means) {
  std::uint64_t state = 1;
  const auto below = [&](std::size_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33) % bound;
  };
  for (const MeanFormat* format : mean_formats()) {
    const std::string name = join("m", format->extension());
    const std::string sound = written(name, telling_mean({3, 4, 3}));
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = sound;
      for (std::size_t i = 0; i <= below(3); ++i) {
        damaged[below(damaged.size())] = static_cast<char>(below(256));
      }
      try {
        const MeanImage mean = read_back(name, damaged);
        EXPECT_EQ(mean.values.size(), mean.shape.bytes());
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find(name), std::string_view::npos);
      }
    }
  }
}

TEST(HostileMeanFormat, huge_dimensions_allocate_nothing) {
  const std::string huge = "\x08\x01\x10\x03\x18\xff\xff\xff\xff\x0f\x20\xff\xff\xff\xff\x0f"s;
  expect_error([&] { read_back("m.binaryproto", huge); }, {"4294967295x4294967295x3"});
  expect_error([&] { read_back("m.binaryproto", "\x3a\x02\x0a\x00"s); }, {"0 dimensions"});
  expect_error([&] { read_back("m.binaryproto", "\x08\x05\x10\x03\x18\x01\x20\x01"s); },
               {"holds 5 images"});
  std::string nd = written("m.nd", telling_mean({1, 1, 3}));
  nd[44] = nd[45] = nd[46] = '\x7f';
  expect_error([&] { read_back("m.nd", nd); }, {"8355711x1x3"});
  std::string xml = written("m.xml", telling_mean({1, 1, 3}));
  xml.replace(xml.find("<Row>1"), 6, "<Row>65535");
  xml.replace(xml.find("<Col>1"), 6, "<Col>65535");
  expect_error([&] { read_back("m.xml", xml); }, {"65535x65535x3"});
}

TEST(HostileMeanFormat, what_is_no_mean_is_said) {
  expect_error([&] { read_back("m.xml", "<annotation/>"); }, {"no element MeanImg"});
  std::string xml = written("m.xml", telling_mean({1, 1, 1}));
  xml.replace(xml.find("0.000000e+00"), 12, ".Nan");
  expect_error([&] { read_back("m.xml", xml); }, {"value 0 is '.Nan', no number"});
  xml.replace(xml.find("</Row>"), 6, "</row>");
  expect_error([&] { read_back("m.xml", xml); }, {"m.xml: byte ", "found 'row>", "tags mismatch"});
  expect_error([&] { read_back("m.nd", "0123456789"); }, {"does not begin with 0x112"});
  const std::string nd = written("m.nd", telling_mean({1, 1, 3}));
  const auto altered = [&](std::size_t at) {
    std::string content = nd;
    content.at(at) = '\x7f';
    return content;
  };
  const auto refused = [&](const std::string& content,
                           std::initializer_list<std::string_view> parts) {
    expect_error([&] { read_back("m.nd", content); }, parts);
  };
  refused(altered(24),
          {"the head of a list of one dense NDArray, version 2", "found 1201", "7ffa93f9"});
  refused(altered(32), {"of 3 dimensions", "found 1201", "c9fa93f9000000007f000000"});
  refused(altered(68), {"the type of float32 values on a CPU", "found 01000000000000007f000000"});
  refused(altered(nd.size() - 1), {"one name, mean_img"});
  refused(nd + '0', {"has data after the name mean_img"});
  const float none = std::numeric_limits<float>::quiet_NaN();
  expect_error(
      [&] {
        read_back("m.binaryproto", "\x08\x01\x10\x01\x18\x01\x20\x01\x2a\x04"s + floats({none}));
      },
      {"value 0 is not a finite number"});
}

}  // namespace
}  // namespace feedrate::formats
