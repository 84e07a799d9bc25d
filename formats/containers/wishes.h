#pragma once
// What a path asks for behind a question mark: "train.parquet?label=fine_label&image=img", "data/mds?label=class",
// "https://host/train.parquet?label=fine_label&X-Amz-Signature=…". Values may be percent-encoded: %26 is "&".

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "formats/pixels/image.h"

namespace feedrate::formats {

enum class Wish : std::uint8_t { image, label, shape, order };

struct Wishes {
  std::string image;  // a column or key; empty: the only one, or the one with the usual name
  std::string label;  // the same
  std::optional<Shape> shape;  // of raw pixels: "32x32x3", height × width × channels
  std::optional<bool> bgr;  // the channels of raw pixels are blue, green, red: "bgr", or not: "rgb"
};

/// A path without its wishes, and these. A file or directory that has a question mark in its name is a path.
/// Throws Error, which says what the container understands, for a wish that is none of `known`.
std::pair<std::filesystem::path, Wishes> split_wishes(const std::filesystem::path& path,
                                                      std::span<const Wish> known);

/// The same path, whatever the wishes are.
std::filesystem::path without_wishes(const std::filesystem::path& path);

/// A URL without its wishes, and these as a path has them behind it, with their question mark. The rest
/// of a query is the server's. Throws Error where it is not clear whose a part is: "lable=fine", "&more" behind a wish.
std::pair<std::string, std::string> split_url_wishes(std::string_view url);

}  // namespace feedrate::formats
