#include "formats/io/tar_writer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "formats/base/error.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {
namespace {

// Noon of 2020-01-01, UTC: the same year in every time zone, and one that tools parsing the output
// of `tar --list` (they look for "20yy") understand.
constexpr std::uint64_t fixed_mtime = 1577880000;
constexpr std::uint64_t fixed_mode = 0444;
constexpr std::uint64_t max_ustar_size = (std::uint64_t{1} << 33) - 1;  // eleven octal digits
constexpr std::string_view ustar = {"ustar\00000", 8};
constexpr std::string_view pax_name = "././@PaxHeader";

using Header = std::array<std::byte, tar_block>;

void put_text(Header& header, TarField field, std::string_view text) {
  assert(text.size() <= field.size);
  std::ranges::copy(as_bytes(text), header.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

// Zero-padded octal digits and a zero byte.
void put_octal(Header& header, TarField field, std::uint64_t value) {
  for (std::size_t i = field.size - 1; i-- > 0; value /= 8) {
    header[field.offset + i] = static_cast<std::byte>('0' + value % 8);
  }
  assert(value == 0);
}

// `name` as ustar's prefix and name, split at the first slash that leaves few enough bytes after
// it; two empty strings when there is none.
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  if (name.size() <= tar_field::name.size) return {{}, name};
  const std::size_t slash = name.find('/', name.size() - tar_field::name.size - 1);
  if (slash == std::string_view::npos || slash == 0 || slash > tar_field::prefix.size ||
      slash + 1 == name.size()) {
    return {};
  }
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// "25 path=a/long/name\n": the number counts the whole record, including its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::string rest = join(' ', key, '=', value, '\n');
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

}  // namespace

void TarWriter::add(std::string_view name, Bytes content) {
  begin(name, content.size());
  write(content);
}

void TarWriter::begin(std::string_view name, std::uint64_t size) {
  assert(left_ == 0);
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    throw Error(join("a tar cannot hold the name '", name, "'"));
  }
  auto [prefix, base] = split(name);
  std::string records;
  if (base.empty()) {
    records += pax_record("path", name);
    base = name.substr(0, tar_field::name.size);  // for tools that do not know PAX
  }
  if (size > max_ustar_size) records += pax_record("size", std::to_string(size));
  if (!records.empty()) put_pax(records);
  put_header(prefix, base, size > max_ustar_size ? 0 : size, '0');
  left_ = size;
}

void TarWriter::write(Bytes piece) {
  assert(piece.size() <= left_);
  if (piece.empty()) return;
  put(piece);
  left_ -= piece.size();
  if (left_ == 0) put_zeros(tar_padded(position_) - position_);
}

void TarWriter::finish() {
  assert(left_ == 0);
  put_zeros(2 * tar_block);
  const std::uint64_t over = position_ % tar_record;
  if (over != 0) put_zeros(tar_record - over);
}

void TarWriter::put(Bytes bytes) {
  write_(bytes);
  position_ += bytes.size();
}

void TarWriter::put_zeros(std::uint64_t count) {
  static constexpr Header zeros{};
  for (; count > 0; count -= std::min<std::uint64_t>(count, zeros.size())) {
    put(Bytes(zeros).first(std::min<std::uint64_t>(count, zeros.size())));
  }
}

void TarWriter::put_header(std::string_view prefix, std::string_view name, std::uint64_t size,
                           char type) {
  Header header{};
  put_text(header, tar_field::name, name);
  put_octal(header, tar_field::mode, fixed_mode);
  put_octal(header, tar_field::uid, 0);
  put_octal(header, tar_field::gid, 0);
  put_octal(header, tar_field::size, size);
  put_octal(header, tar_field::mtime, fixed_mtime);
  put_text(header, tar_field::type, {&type, 1});
  put_text(header, tar_field::magic, ustar);
  put_text(header, tar_field::prefix, prefix);
  // Six digits, a zero byte, a blank, by tradition.
  constexpr TarField checksum = tar_field::checksum;
  const std::uint32_t sum = tar_checksum(header.data());
  put_octal(header, {checksum.offset, checksum.size - 1}, sum);
  header[checksum.offset + checksum.size - 1] = std::byte{' '};
  put(header);
}

void TarWriter::put_pax(std::string_view records) {
  put_header({}, pax_name, records.size(), 'x');
  put(as_bytes(records));
  put_zeros(tar_padded(position_) - position_);
}

}  // namespace feedrate::formats
