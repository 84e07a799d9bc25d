#include "converters/sources/idx.h"

#include <fmt/format.h>

#include <array>

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint32_t label_magic = 0x00000801;
constexpr std::uint32_t image_magic = 0x00000803;
constexpr std::size_t magic_bytes = 4;

// Says what the first bytes are instead of IDX, if known.
std::string guess(Bytes start) {
  const std::string_view text = as_text(start);
  if (text.starts_with("\x1f\x8b")) return "; the data is still gzip-compressed";
  if (text.starts_with("PK")) return "; the data is a zip archive";
  if (text.starts_with("<")) return "; is it an HTML page?";
  const auto type = static_cast<unsigned>(start[2]);
  const bool idx_of_another_type =
      start[0] == std::byte{0} && start[1] == std::byte{0} && type >= 8 && type <= 14;
  if (!idx_of_another_type) return "";
  return fmt::format("; that is IDX of type 0x{:02x} with {} dimensions", type,
                     static_cast<unsigned>(start[3]));
}

std::string_view kind_name(IdxKind kind) { return kind == IdxKind::images ? "images" : "labels"; }

}  // namespace

IdxHeader read_idx_header(Archive& entry) {
  std::array<std::byte, magic_bytes + 3 * sizeof(std::uint32_t)> bytes{};
  const std::string place = entry.place();
  const auto read = [&](std::size_t from, std::size_t count) {
    const std::size_t found = entry.read(MutableBytes(bytes).subspan(from, count));
    if (found != count) {
      fail(place, "the IDX header is cut off: expected ", from + count, " bytes, found ",
           from + found);
    }
  };
  read(0, magic_bytes);
  const auto magic = load_be<std::uint32_t>(bytes.data());
  if (magic != label_magic && magic != image_magic) {
    fail(place,
         fmt::format("byte 0: expected the IDX magic {} (labels) or {} (images), found {} "
                     "(0x{:08x})",
                     label_magic, image_magic, magic, magic),
         guess(Bytes(bytes).first(magic_bytes)));
  }
  IdxHeader header;
  header.kind = magic == image_magic ? IdxKind::images : IdxKind::labels;
  const std::size_t dimensions = magic & 0xff;
  read(magic_bytes, dimensions * sizeof(std::uint32_t));
  header.count = load_be<std::uint32_t>(&bytes[4]);
  std::uint64_t each = 1;
  if (header.kind == IdxKind::images) {
    header.shape = {load_be<std::uint32_t>(&bytes[8]), load_be<std::uint32_t>(&bytes[12]), 1};
    if (!header.shape.plausible()) {
      fail(place, "byte 8: implausible image size: ", header.shape.height, " rows and ",
           header.shape.width, " columns");
    }
    each = header.shape.bytes();
  }
  if (header.count == 0) fail(place, "byte 4: the header states a count of 0");
  // At most 2^32 images of 2^30 bytes: no overflow.
  header.bytes = magic_bytes + dimensions * sizeof(std::uint32_t) + header.count * each;
  if (entry.size() != 0 && entry.size() != header.bytes) {
    fail(place, "holds ", entry.size(), " bytes, but ", header.count, " ", kind_name(header.kind),
         " take ", header.bytes,
         entry.size() < header.bytes ? "; is it truncated?" : "; the rest does not belong to it");
  }
  return header;
}

IdxHeader read_idx_header(Archive& entry, IdxKind wanted) {
  const IdxHeader header = read_idx_header(entry);
  if (header.kind != wanted) {
    fail(entry.place(), "expected ", kind_name(wanted), ", found ", kind_name(header.kind),
         "; are the two files swapped?");
  }
  return header;
}

void read_idx_image(Archive& entry, const IdxHeader& header, std::uint64_t index,
                    MutableBytes pixels) {
  const std::size_t found = entry.read(pixels);
  if (found == pixels.size()) return;
  const std::uint64_t start = header.bytes - (header.count - index) * pixels.size();
  fail(entry.place(), "image ", index, " of ", header.count, ": the data ends at byte ",
       start + found, ", expected ", header.bytes, " bytes; is it truncated?");
}

std::vector<std::uint8_t> read_idx_labels(Archive& entry, const IdxHeader& header) {
  Buffer bytes;
  entry.read_all(bytes, header.count);
  if (bytes.size() < header.count) {
    fail(entry.place(), "expected ", header.count, " labels, found ", bytes.size(),
         "; is it truncated?");
  }
  std::vector<std::uint8_t> labels(bytes.size());
  std::memcpy(labels.data(), bytes.data(), bytes.size());
  return labels;
}

void expect_idx_end(Archive& entry, const IdxHeader& header) {
  std::array<std::byte, 1> more{};
  if (entry.read(more) != 0) {
    fail(entry.place(), "byte ", header.bytes, ": the ", header.count, " ", kind_name(header.kind),
         " that the header states end here, but more bytes follow");
  }
}

}  // namespace feedrate::converters
