#include "formats/codec.h"

#include <algorithm>
#include <cassert>

#include "formats/digests/digest.h"

namespace feedrate::formats {

#define FEEDRATE_ROW(name) extern const Codec& name##_codec;
#include "formats/codecs/list.inc"
#undef FEEDRATE_ROW

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view start;
  std::string_view kind;
};

constexpr Signature signatures[] = {
    {"\xff\xd8\xff"sv, "JPEG"},
    {"\x89PNG\r\n\x1a\n"sv, "PNG"},
    {"GIF8"sv, "GIF"},
    {"BM"sv, "BMP"},
    {"II*\0"sv, "TIFF"},
    {"MM\0*"sv, "TIFF"},
    {"\x1f\x8b"sv, "a gzip file"},
    {"<!DOCTYPE"sv, "an HTML page"},
    {"<html"sv, "an HTML page"},
    {"\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {"version https://git-lfs.github.com/"sv,
     "a Git LFS pointer ('git lfs pull' fetches the image)"},
};

std::string first_bytes(Bytes bytes) {
  return bytes.empty() ? "nothing" : hex(bytes.first(std::min<std::size_t>(bytes.size(), 8)));
}

}  // namespace

std::span<const Codec* const> codecs() {
  static const Codec* const all[] = {
#define FEEDRATE_ROW(name) &name##_codec,
#include "formats/codecs/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

std::string Codec::decode_strictly(Bytes encoded, Shape shape, MutableBytes pixels) const {
  decode(encoded, shape, pixels);
  return {};
}

PixelRows Codec::decode_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) const {
  const MutableBytes pixels = grown(memory, shape.bytes());
  decode(encoded, shape, pixels);
  return rows_of_part(pixels.data(), shape, part);
}

void Codec::encode(const ImageView&, int, Buffer&) const { assert(false); }

void Codec::recode(Bytes, Buffer&) const { assert(false); }

std::vector<std::string_view> encoder_names() {
  std::vector<std::string_view> names;
  for (const Codec* row : codecs()) {
    if (row->encodes()) names.push_back(row->name());
  }
  return names;
}

const Codec& codec(std::string_view name) { return find_kind("codec", name, codecs()); }

const Codec* codec_of(Bytes encoded) {
  for (const Codec* row : codecs()) {
    if (row->knows(encoded)) return row;
  }
  return nullptr;
}

const Codec& codec_for(Bytes encoded) {
  if (const Codec* known = codec_of(encoded)) return *known;
  const std::string_view kind = looks_like(encoded);
  const std::string found =
      kind.empty() ? "begins with " + first_bytes(encoded) : join("looks like ", kind);
  std::string message = join("no codec knows these ", encoded.size(), " bytes: the image ", found);
  std::string_view separator = "; there are ";
  for (const std::string_view name : kind_names(codecs())) {
    message += join(separator, name);
    separator = ", ";
  }
  throw Error(message);
}

std::string_view looks_like(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  for (const auto& [start, kind] : signatures) {
    if (text.starts_with(start)) return kind;
  }
  return text.substr(0, 4) == "RIFF" && text.substr(0, 12).ends_with("WEBP") ? "WebP" : "";
}

}  // namespace feedrate::formats
