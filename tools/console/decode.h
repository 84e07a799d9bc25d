#pragma once
// "--decode": at which size JPEGs are decoded, and by whom.

#include "formats/base/setting.h"
#include "loader/loader.h"

namespace feedrate::tools {

enum class Decode : std::uint8_t {
  full,    // by the loader's threads
  scaled,  // by them, at a half of their size or less where a crop allows it
  device,  // in full, by the device, from packed JPEGs
};
// The loader's words, and one more.
inline constexpr std::string_view decode_words[] = {name(loader::DecodedSize::full),
                                                    name(loader::DecodedSize::scaled), "device"};
constexpr std::string_view name(Decode decode) {
  return decode_words[static_cast<std::size_t>(decode)];
}
inline constexpr formats::Setting decode_row{
    .name = "decode",
    .unit = "HOW",
    .sentence = "Decode JPEGs in full, scaled, or on the device",
    .detail =
        "scaled decodes at 1/2, 1/4 or 1/8 when the crop is that much larger than the output; "
        "pixels, and so the digest, change. device needs packed JPEGs (convert --encode "
        "packed): loader threads read and check them, and the GPU decodes, crops, resizes and "
        "mirrors them, to the same pixels. Loader threads decode images that aren't packed "
        "JPEGs, or are too large for the batch slot, and count them.",
    .words = decode_words};

constexpr loader::DecodedSize size_of(Decode decode) {
  return decode == Decode::scaled ? loader::DecodedSize::scaled : loader::DecodedSize::full;
}
/// What batches hold where `asked` was asked for.
constexpr loader::PixelType pixels_of(Decode decode, loader::PixelType asked) {
  return decode == Decode::device ? loader::PixelType::packed : asked;
}

}  // namespace feedrate::tools
