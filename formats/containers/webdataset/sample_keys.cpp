#include "formats/containers/webdataset/sample_keys.h"

#include <algorithm>
#include <iterator>

namespace feedrate::formats {
namespace {

constexpr std::string_view image_extensions[] = {"jpg", "jpeg", "png",  "packed", "ppm", "pgm",
                                                 "bmp", "tif",  "tiff", "webp",   "gif"};

std::optional<std::size_t> rank_of(std::string_view extension) {
  const auto* const found = std::ranges::find(image_extensions, extension);
  if (found == std::end(image_extensions)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(image_extensions));
}

}  // namespace

std::optional<std::size_t> image_rank(std::string_view extension, const SampleKeys& keys) {
  if (keys.image.empty()) return rank_of(extension);
  if (extension == keys.image) return 0;
  if (compound_image(extension) != keys.image) return std::nullopt;
  return rank_of(extension.substr(keys.image.size() + 1)).value() + 1;
}

std::string lower_case(std::string_view extension) {
  std::string lower(extension);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::optional<std::string_view> compound_image(std::string_view extension) {
  const std::size_t dot = extension.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !rank_of(extension.substr(dot + 1)))
    return std::nullopt;
  return extension.substr(0, dot);
}

}  // namespace feedrate::formats
