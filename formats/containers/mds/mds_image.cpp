#include "formats/containers/mds/mds_image.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view file_encodings[] = {"jpeg", "png", "bytes"};
constexpr std::string_view array_encodings[] = {"jpeg_array", "jpegarray"};
constexpr std::string_view array = "ndarray", pillow = "pil";

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// "jpeg" of "list[jpeg]"; nothing of another encoding.
std::optional<std::string_view> listed(std::string_view encoding) {
  constexpr std::string_view list = "list[";
  if (!encoding.starts_with(list) || !encoding.ends_with(']')) return std::nullopt;
  return encoding.substr(list.size(), encoding.size() - list.size() - 1);
}

Bytes take(Bytes& from, std::uint64_t size, std::string_view what) {
  if (size > from.size()) {
    throw Error(join("the image's ", what, " takes ", size, " bytes, ", from.size(), " are left"));
  }
  const Bytes taken = from.first(size);
  from = from.subspan(size);
  return taken;
}

std::uint32_t take_number(Bytes& from, std::string_view what) {
  return load_le<std::uint32_t>(take(from, sizeof(std::uint32_t), what).data());
}

/// u32 count | u32 sizes[count] | the values.
Bytes only_value(Bytes list) {
  const std::uint32_t count = take_number(list, "number");
  if (count != 1) {
    throw Error(join("holds ", count, " images in a list; Feedrate reads lists of one"));
  }
  return take(list, take_number(list, "size"), "file");
}

using Convert = void (*)(const std::uint8_t* from, std::uint8_t* to);

void first_of(const std::uint8_t* from, std::uint8_t* to) { *to = *from; }
void first_three(const std::uint8_t* from, std::uint8_t* to) { std::copy_n(from, 3, to); }
/// Pillow's: ink over the black that is left.
void from_cmyk(const std::uint8_t* from, std::uint8_t* to) {
  const unsigned left = 255U - from[3];
  for (int i = 0; i < 3; ++i) {
    const unsigned product = from[i] * left + 128;
    to[i] = static_cast<std::uint8_t>(left - ((product >> 8) + product) / 256);
  }
}

struct PillowMode {
  std::string_view name;
  std::uint32_t stored, channels;
  Convert convert;  // null: as it is
};
// As its convert("RGB") has them, which leaves transparency out.
constexpr PillowMode modes[] = {{"L", 1, 1, nullptr},        {"RGB", 3, 3, nullptr},
                                {"LA", 2, 1, first_of},      {"RGBA", 4, 3, first_three},
                                {"RGBX", 4, 3, first_three}, {"CMYK", 4, 3, from_cmyk}};

void expect_pixels(Bytes pixels, std::uint64_t expected, const Shape& shape) {
  if (pixels.size() == expected) return;
  throw Error(join("the image has ", pixels.size(), " bytes of pixels for ", shape.width, " × ",
                   shape.height, ", expected ", expected));
}

MutableBytes made_pixels(Buffer& memory, Sample& sample) {
  const MutableBytes pixels = grown(memory, sample.shape.bytes());
  sample.bytes = pixels;
  return pixels;
}

/// Mode "1": a bit a pixel, highest first, each row in whole bytes; 1 is white.
void read_bits(Bytes bits, Buffer& memory, Sample& sample) {
  const std::size_t stride = (sample.shape.width + 7) / 8;
  expect_pixels(bits, stride * sample.shape.height, sample.shape);
  const MutableBytes pixels = made_pixels(memory, sample);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t x = i % sample.shape.width, y = i / sample.shape.width;
    const bool white = (bits[y * stride + x / 8] >> (7 - x % 8) & std::byte{1}) != std::byte{0};
    pixels[i] = white ? std::byte{255} : std::byte{0};
  }
}

/// u32 width, height, size of the mode | mode | pixels.
void read_pillow(Bytes value, Buffer& memory, Sample& sample) {
  const std::uint32_t width = take_number(value, "head"), height = take_number(value, "head");
  const std::string_view mode = as_text(take(value, take_number(value, "head"), "mode"));
  const auto* const row = std::ranges::find(modes, mode, &PillowMode::name);
  const bool bits = mode == "1";
  if (row == std::end(modes) && !bits) {
    throw Error(join("the image has Pillow's mode '", mode,
                     "'; Feedrate reads 1, L, LA, RGB, RGBA, RGBX and CMYK",
                     mode == "P" ? ", and MDS keeps no palette" : ""));
  }
  sample.codec = &raw_codec;
  sample.shape = {height, width, bits ? 1 : row->channels};
  if (!sample.shape.plausible()) throw Error(join("the image is ", width, " × ", height));
  if (bits) return read_bits(value, memory, sample);
  expect_pixels(value, std::uint64_t{width} * height * row->stored, sample.shape);
  sample.bytes = value;
  if (row->convert == nullptr) return;
  const MutableBytes pixels = made_pixels(memory, sample);
  const auto* from = reinterpret_cast<const std::uint8_t*>(value.data());
  auto* to = reinterpret_cast<std::uint8_t*>(pixels.data());
  for (std::uint64_t i = 0; i < std::uint64_t{width} * height; ++i) {
    row->convert(from + i * row->stored, to + i * row->channels);
  }
}

/// "uint8" and "28,28,1" of "ndarray:uint8:28,28,1", as far as they are stated.
struct ArrayFacts {
  std::string_view type, shape;
};
std::optional<ArrayFacts> array_facts(std::string_view encoding) {
  if (!encoding.starts_with(array)) return std::nullopt;
  encoding.remove_prefix(array.size());
  if (encoding.empty()) return ArrayFacts{};
  if (encoding.front() != ':') return std::nullopt;
  encoding.remove_prefix(1);
  const std::size_t colon = std::min(encoding.find(':'), encoding.size());
  return ArrayFacts{encoding.substr(0, colon),
                    encoding.substr(std::min(colon + 1, encoding.size()))};
}

std::vector<std::uint64_t> stated_sides(std::string_view text) {
  std::vector<std::uint64_t> sides;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    sides.push_back(parse_number<std::uint64_t>(text.substr(begin, end - begin)).value_or(0));
    begin = end + 1;
  }
  return sides;
}

/// Where they are not stated: u8, its lowest two bits the width of a side as a power of two, the others how many | sides.
std::vector<std::uint64_t> take_sides(Bytes& value) {
  const auto head = std::to_integer<unsigned>(take(value, 1, "shape")[0]);
  const std::size_t width = std::size_t{1} << (head & 3U);
  std::vector<std::uint64_t> sides;
  for (unsigned i = 0; i < head >> 2; ++i) {
    const Bytes side = take(value, width, "shape");
    std::uint64_t number = 0;
    for (std::size_t b = 0; b < width; ++b)
      number |= std::to_integer<std::uint64_t>(side[b]) << (8 * b);
    sides.push_back(number);
  }
  return sides;
}

void read_array(const ArrayFacts& facts, Bytes value, Sample& sample) {
  constexpr unsigned bytes_type = 8;  // uint8, as MDS numbers NumPy's types
  if (facts.type.empty() && std::to_integer<unsigned>(take(value, 1, "type")[0]) != bytes_type) {
    throw Error("the image is an array of another type than uint8");
  }
  std::vector<std::uint64_t> sides =
      facts.shape.empty() ? take_sides(value) : stated_sides(facts.shape);
  std::string shown;
  for (const std::uint64_t side : sides) shown += join(shown.empty() ? "" : " × ", side);
  if (sides.size() == 2) sides.push_back(1);
  constexpr std::uint64_t max_side = 65535;
  const bool fits = sides.size() == 3 &&
                    std::ranges::all_of(sides, [](std::uint64_t side) { return side <= max_side; });
  const auto is_channels = [](std::uint64_t side) { return side == 1 || side == 3; };
  const bool planes = fits && !is_channels(sides[2]) && is_channels(sides[0]);
  if (planes) std::ranges::rotate(sides, sides.begin() + 1);
  if (fits) {
    sample.shape = {static_cast<std::uint32_t>(sides[0]), static_cast<std::uint32_t>(sides[1]),
                    static_cast<std::uint32_t>(sides[2])};
  }
  if (!fits || !sample.shape.plausible()) {
    throw Error(
        join("the image is an array of ", shown,
             "; Feedrate reads height × width, perhaps × 1 or 3, and 1 or 3 × height × width"));
  }
  expect_pixels(value, sample.shape.bytes(), sample.shape);
  sample.codec = &raw_codec;
  sample.bytes = value;
  if (planes && sample.shape.channels == 3) sample.order = PixelOrder::planar_rgb;
}

}  // namespace

Fit as_mds_image(std::string_view encoding) {
  if (is_one_of(file_encodings, encoding) || encoding == pillow) return Fit::yes;
  if (is_one_of(array_encodings, encoding)) return Fit::by_name;
  if (const auto of = listed(encoding)) {
    return is_one_of(file_encodings, *of) || *of == pillow ? Fit::by_name : Fit::no;
  }
  const auto facts = array_facts(encoding);
  return facts && (facts->type.empty() || facts->type == "uint8") ? Fit::by_name : Fit::no;
}

bool is_mds_pixels(std::string_view encoding) {
  return encoding == pillow || listed(encoding) == pillow || array_facts(encoding);
}

void read_mds_image(std::string_view encoding, Bytes value, Buffer& memory, Sample& sample) {
  if (const auto of = listed(encoding)) {
    take_number(value, "list");  // of no meaning yet
    return read_mds_image(*of, only_value(value), memory, sample);
  }
  if (is_one_of(array_encodings, encoding))
    return read_mds_image("jpeg", only_value(value), memory, sample);
  if (encoding == pillow) return read_pillow(value, memory, sample);
  if (const auto facts = array_facts(encoding)) return read_array(*facts, value, sample);
  sample.bytes = value;
  sample.codec = &codec_for(value);
  sample.shape = sample.codec->shape(value);
}

}  // namespace feedrate::formats
