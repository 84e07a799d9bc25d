// Real JPEGs, compared pixel by pixel with what another program decodes.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/codec.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/containers/webdataset/tar_index.h"
#include "formats/digests/digest.h"
#include "formats/io/mapped_file.h"
#include "tests/support/data.h"
#include "tests/support/places.h"

namespace feedrate::formats {
namespace {

using testing::data_file;

constexpr const char* absent = "the JPEGs are not on this machine (FEEDRATE_DATA)";

Image decoded(Bytes encoded) {
  Image image{codec_for(encoded).shape(encoded), {}};
  image.pixels.resize(image.shape.bytes());
  codec_for(encoded).decode(encoded, image.shape, image.pixels);
  return image;
}

// The same as in tests/formats/parity/make_jpeg.py.
struct Found {
  std::size_t images = 0;
  std::size_t grey = 0;
  Hasher hasher;

  void add(Bytes encoded) {
    const Image image = decoded(encoded);
    Buffer described;
    for (const std::uint32_t number :
         {image.shape.height, image.shape.width, image.shape.channels}) {
      append_le(described, number);
    }
    append(described, image.pixels);
    hasher.add(sha256(described));
    ++images;
    if (image.shape.channels == 1) ++grey;
  }

  void add_tar(Bytes tar) {
    TarWalk walk(tar);
    TarEntry entry;
    while (walk.next(entry)) {
      const Bytes content = tar.subspan(entry.offset, entry.size);
      if (entry.name.ends_with(".tar")) {
        add_tar(content);
      } else {
        add(content);
      }
    }
  }
};

class InteropJpeg : public ::testing::TestWithParam<const char*> {};

TEST_P(InteropJpeg, imagenet_s_files_decode_to_the_pixels_that_pillow_finds) {
  const auto file = data_file(join("imagenet/", GetParam()));
  if (!file) GTEST_SKIP() << absent;
  std::ifstream stored(testing::source_directory() / "tests/formats/parity/jpeg.json");
  const auto expected = nlohmann::json::parse(stored).at("archives").at(GetParam());
  const MappedFile archive(*file);
  Found found;
  found.add_tar(archive.bytes());
  EXPECT_EQ(found.images, expected.at("images").get<std::size_t>());
  EXPECT_EQ(found.grey, expected.at("grey").get<std::size_t>());
  EXPECT_EQ(hex(found.hasher.finish()), expected.at("digest").get<std::string>());
}

INSTANTIATE_TEST_SUITE_P(, InteropJpeg,
                         ::testing::Values("ILSVRC2012_img_train.tar", "ILSVRC2012_img_val.tar"),
                         [](const auto& given) { return given.index == 0 ? "train" : "val"; });

struct Difference {
  int largest = 0;
  double mean = 0;
};

Difference difference(const Image& a, const Image& b) {
  Difference result;
  EXPECT_EQ(a.shape, b.shape);
  if (a.shape != b.shape) return result;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const int distance =
        std::abs(std::to_integer<int>(a.pixels[i]) - std::to_integer<int>(b.pixels[i]));
    result.largest = std::max(result.largest, distance);
    result.mean += distance;
  }
  result.mean /= static_cast<double>(a.pixels.size());
  return result;
}

TEST(InteropJpegInks, cmyk_and_ycck_files_become_the_rgb_of_their_reference) {
  for (const char* name : {"mozilla-jpg-cmyk-1", "ycck"}) {
    const auto jpeg = data_file(join("vectors/jpeg_cmyk_standins/", name, ".jpg"));
    const auto png = data_file(join("vectors/jpeg_cmyk_standins/", name, ".png"));
    if (!jpeg || !png) GTEST_SKIP() << absent;
    const MappedFile stored(*jpeg), reference(*png);
    EXPECT_EQ(jpeg_header(stored.bytes()).components, 4U);
    const Difference measured = difference(decoded(stored.bytes()), decoded(reference.bytes()));
    EXPECT_LE(measured.largest, 3) << name;  // measured: 1 and 3; means 0.21 and 0.03
    EXPECT_LE(measured.mean, 0.25) << name;
  }
}

}  // namespace
}  // namespace feedrate::formats
