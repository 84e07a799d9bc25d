#include "formats/containers/webdataset/tar_index.h"

#include <algorithm>
#include <optional>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {
namespace {

// Names are a few hundred bytes long; a header that states more is damaged.
constexpr std::uint64_t max_extension_bytes = std::uint64_t{1} << 20;

std::string_view field_of(const std::byte* header, TarField field) {
  return as_text({header + field.offset, field.size});
}

// The text of a field, which ends at its first zero byte or with the field.
std::string_view text_of(const std::byte* header, TarField field) {
  const std::string_view text = field_of(header, field);
  return text.substr(0, text.find('\0'));
}

bool is_zero(Bytes block) {
  return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Octal digits between blanks and zero bytes; an empty field is 0.
std::optional<std::uint64_t> octal(std::string_view field) {
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
  std::uint64_t value = 0;
  for (const char digit : field) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(digit - '0');  // 12 digits: 36 bits
  }
  return value;
}

// GNU's form for large numbers: the top bit of the field, then big-endian.
std::optional<std::uint64_t> size_of(const std::byte* header) {
  const std::string_view field = field_of(header, tar_field::size);
  if ((field[0] & 0x80) == 0) return octal(field);
  const std::byte* last_eight = header + tar_field::size.offset + tar_field::size.size - 8;
  const std::string_view first_four = field.substr(0, 4);
  if (first_four != std::string_view("\x80\0\0\0", 4)) return std::nullopt;  // negative, or 2^64
  return load_be<std::uint64_t>(last_eight);
}

// Only headers with POSIX's own magic have a prefix there: GNU's have times.
void full_name(const std::byte* header, std::string& name) {
  const std::string_view magic = field_of(header, tar_field::magic);
  const std::string_view prefix = text_of(header, tar_field::prefix);
  name.clear();
  if (magic.starts_with(std::string_view("ustar\0", 6)) && !prefix.empty()) {
    name.append(prefix).append(1, '/');
  }
  name += text_of(header, tar_field::name);
}

// The type as one character, with older forms brought to today's.
char type_of(const std::byte* header, std::string_view name) {
  const char type = field_of(header, tar_field::type)[0];
  if (type == '7') return '0';  // "contiguous": a file
  if (type != '\0') return type;
  return name.ends_with('/') ? '5' : '0';  // V7's directories
}

// Headers of links, devices, directories and pipes may state a size, but no data follow them.
bool has_data(char type) { return type < '1' || type > '6'; }

}  // namespace

// What the headers in front of a member's own state about it.
struct TarWalk::Extensions {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
  bool any = false;
};

bool TarWalk::next(TarEntry& entry) {
  entry.header = position_;
  Extensions extensions;
  while (!end_marker_at(position_)) {
    const std::byte* header = header_at(position_);
    const std::optional<std::uint64_t> size = size_of(header);
    if (!size) throw Error(join("byte ", position_, ": the size of the member is not a number"));
    if (read_extension(header, *size, extensions)) continue;
    entry.offset = position_ + tar_block;
    if (extensions.name) {
      entry.name = *extensions.name;
    } else {
      full_name(header, entry.name);
    }
    entry.type = type_of(header, entry.name);
    entry.size = has_data(entry.type) ? extensions.size.value_or(*size) : 0;
    check(entry);
    position_ = std::min<std::uint64_t>(entry.offset + tar_padded(entry.size), tar_.size());
    return true;
  }
  if (extensions.any) throw Error(join("byte ", position_, ": the tar ends inside a member"));
  position_ += std::min<std::uint64_t>(2 * tar_block, tar_.size() - position_);
  return false;
}

// True when the header describes the member that follows; it has then been read.
bool TarWalk::read_extension(const std::byte* header, std::uint64_t size, Extensions& extensions) {
  const char type = field_of(header, tar_field::type)[0];
  if (type != 'L' && type != 'K' && type != 'x' && type != 'X' && type != 'g') return false;
  const Bytes content = extension_data(position_ + tar_block, size);
  if (type == 'L') {
    const std::string_view name = as_text(content);
    extensions.name = name.substr(0, name.find('\0'));
  } else if (type != 'K') {  // K: the target of a link, which is not needed
    read_pax(content, type, extensions);
  }
  extensions.any = true;
  position_ = std::min<std::uint64_t>(position_ + tar_block + tar_padded(size), tar_.size());
  return true;
}

void TarWalk::check(const TarEntry& entry) const {
  if (entry.name.empty() || entry.name.find('\0') != std::string::npos) {
    throw Error(join("byte ", entry.header, ": the member's name is empty or holds a zero byte"));
  }
  const auto refuse = [&](const auto&... what) {
    throw Error(join("byte ", entry.header, ": '", entry.name, "' ", what...));
  };
  if (entry.type == 'S') refuse("is a sparse file (GNU); Feedrate reads only whole ones");
  if (entry.type == 'M') refuse("began in another volume");
  const std::uint64_t left = tar_.size() - entry.offset;
  if (entry.size > left) {
    refuse("has ", entry.size, " bytes, but only ", left, " follow; is the tar cut short?");
  }
}

// Two blocks of zeros, or one at the end of the file, which is all that some writers leave.
bool TarWalk::end_marker_at(std::uint64_t at) {
  if (at > tar_.size() || tar_.size() - at < tar_block) {
    throw Error(join("byte ", std::min<std::uint64_t>(at, tar_.size()),
                     ": the tar stops without its end marker; is it cut short?"));
  }
  window_.need(at, tar_block);
  if (!is_zero(tar_.subspan(at, tar_block))) return false;
  window_.need(at, 2 * tar_block);
  const std::uint64_t left = tar_.size() - at - tar_block;
  if (!is_zero(tar_.subspan(at + tar_block, std::min<std::uint64_t>(left, tar_block)))) {
    throw Error(join("byte ", at, ": zeros stand where a header is expected, but no end marker"));
  }
  return true;
}

// The caller has checked that the block exists. Old tools summed the bytes as signed numbers.
const std::byte* TarWalk::header_at(std::uint64_t at) const {
  const std::byte* header = tar_.data() + at;
  const std::optional<std::uint64_t> stated = octal(field_of(header, tar_field::checksum));
  const std::uint32_t sum = tar_checksum(header);
  if (stated == sum) return header;
  std::uint32_t high_bytes = 0;
  for (std::size_t i = 0; i < tar_block; ++i) {
    const bool summed = i < tar_field::checksum.offset ||
                        i >= tar_field::checksum.offset + tar_field::checksum.size;
    high_bytes += summed && header[i] >= std::byte{0x80} ? 1U : 0U;
  }
  if (stated == sum - 256 * high_bytes) return header;
  throw Error(join("byte ", at, ": no tar header: its checksum should be ", sum, ", it says ",
                   stated ? std::to_string(*stated) : "no number"));
}

Bytes TarWalk::extension_data(std::uint64_t at, std::uint64_t size) {
  if (size > max_extension_bytes) {
    throw Error(join("byte ", at - tar_block, ": an extended header of ", size, " bytes; at most ",
                     max_extension_bytes, " are accepted"));
  }
  if (size > tar_.size() - at) {
    throw Error(join("byte ", at - tar_block, ": the extended header has ", size,
                     " bytes, but only ", tar_.size() - at, " follow; is the tar cut short?"));
  }
  window_.need(at, size);
  return tar_.subspan(at, size);
}

// Reads records "25 path=a/long/name\n", where 25 counts the whole record.
void TarWalk::read_pax(Bytes content, char type, Extensions& extensions) const {
  const auto refuse = [&](std::string_view what, std::string_view key) {
    throw Error(join("byte ", position_, ": the PAX header ", what, key));
  };
  std::string_view rest = as_text(content);
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    const auto length = parse_number<std::size_t>(rest.substr(0, blank));
    if (blank == std::string_view::npos || !length || *length > rest.size() ||
        *length < blank + 3 || rest[*length - 1] != '\n') {
      refuse("is damaged", "");
    }
    const std::string_view record = rest.substr(blank + 1, *length - blank - 2);
    rest.remove_prefix(*length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) refuse("is damaged", "");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key.starts_with("GNU.sparse.")) refuse("describes a sparse file: ", key);
    if (key != "path" && key != "size") continue;
    if (type == 'g') refuse("gives every member the same ", key);
    if (key == "path") {
      extensions.name = value;
    } else {
      extensions.size = parse_number<std::uint64_t>(value);
      if (!extensions.size) refuse("gives a size that is not a number: ", value);
    }
  }
}

}  // namespace feedrate::formats
