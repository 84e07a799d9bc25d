#pragma once
// Baseline JPEGs of every kind, photographs, and parts of them.

#include <cstdlib>
#include <random>
#include <vector>

#include "formats/containers/webdataset/tar_index.h"
#include "formats/io/mapped_file.h"
#include "tests/support/data.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::testing {

inline Rect random_part(std::mt19937& random, Shape shape) {
  Rect part;
  part.y = static_cast<std::uint32_t>(random() % shape.height);
  part.x = static_cast<std::uint32_t>(random() % shape.width);
  part.height = 1 + static_cast<std::uint32_t>(random() % (shape.height - part.y));
  part.width = 1 + static_cast<std::uint32_t>(random() % (shape.width - part.x));
  return part;
}

inline Buffer noisy_jpeg(JpegKind kind, Shape shape, unsigned noise) {
  if (shape.channels == 1) kind.from = kind.stored = JCS_GRAYSCALE;
  const std::size_t channels = kind.from == JCS_CMYK ? 4 : shape.channels;
  Buffer pixels(std::size_t{shape.height} * shape.width * channels);
  std::mt19937 random(noise);
  std::size_t at = 0;
  for (std::byte& pixel : pixels) {
    pixel = static_cast<std::byte>(at++ / 7 + (noise == 0 ? 0 : random() % noise));
  }
  return make_jpeg(kind, shape.width, shape.height, pixels);
}

inline std::vector<JpegKind> baseline_kinds() {
  std::vector<JpegKind> kinds;
  for (const auto& [across, down] :
       {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}}) {
    for (const unsigned restart : {0U, 1U, 3U}) {
      kinds.push_back({.across = across, .down = down, .restart = restart});
      kinds.push_back({.quality = 100, .across = across, .down = down, .restart = restart});
      kinds.back().optimal = true;
    }
  }
  kinds.push_back({.stored = JCS_RGB, .across = 1, .down = 1});
  kinds.push_back({.from = JCS_CMYK, .stored = JCS_CMYK, .across = 1, .down = 1});
  kinds.push_back({.from = JCS_CMYK, .stored = JCS_YCCK});
  return kinds;
}

/// With FEEDRATE_LONG_TESTS=1, more made images, all photographs, and 100 parts of each.
inline bool long_tests() { return std::getenv("FEEDRATE_LONG_TESTS") != nullptr; }

/// In long tests, each of them 16 times.
inline std::vector<JpegKind> many_of(std::vector<JpegKind> kinds) {
  const std::size_t size = kinds.size();
  while (long_tests() && kinds.size() < 16 * size) kinds.push_back(kinds[kinds.size() - size]);
  return kinds;
}

/// Calls `use` for 40 photographs of the real ImageNet archive, in long tests for all of them. Returns how many there were: 0 without the archive.
template <class Use>
int for_each_photograph(const Use& use) {
  const auto file = data_file("imagenet/ILSVRC2012_img_train.tar");
  if (!file) return 0;
  const int wanted = long_tests() ? 1 << 20 : 40;
  const MappedFile archive(*file);
  TarWalk classes(archive.bytes());
  TarEntry entry;
  int photographs = 0;
  while (classes.next(entry) && photographs < wanted) {
    const Bytes inner = archive.bytes().subspan(entry.offset, entry.size);
    TarWalk walk(inner);
    while (walk.next(entry)) {
      use(inner.subspan(entry.offset, entry.size));
      ++photographs;
    }
  }
  return photographs;
}

}  // namespace feedrate::testing
