#pragma once
// "--decode": at which size JPEGs are decoded, and by whom.

#include "loader/loader.h"

namespace feedrate::tools {

enum class Decode : std::uint8_t {
  full,    // by the loader's threads
  scaled,  // by them, at a half of their size or less where a crop allows it
  device,  // in full, by the device, from packed JPEGs
};
inline constexpr Decode decodes[] = {Decode::full, Decode::scaled, Decode::device};

constexpr std::string_view name(Decode decode) {
  return decode == Decode::device ? "device" : decode == Decode::scaled ? "scaled" : "full";
}
constexpr loader::DecodedSize size_of(Decode decode) {
  return decode == Decode::scaled ? loader::DecodedSize::scaled : loader::DecodedSize::full;
}
/// What batches hold where `asked` was asked for.
constexpr loader::PixelType pixels_of(Decode decode, loader::PixelType asked) {
  return decode == Decode::device ? loader::PixelType::packed : asked;
}

}  // namespace feedrate::tools
