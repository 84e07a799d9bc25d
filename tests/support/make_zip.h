#pragma once
// Zip archives made by hand, entry by entry, with every number open to damage.

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

struct ZipEntry {
  std::string name;
  std::string content;
  std::uint16_t method = 0;  // 0 stored, 8 deflated; others store the bytes all the same
  std::uint16_t flags = 0;
};

enum class ZipForm : std::uint8_t { plain, zip64 };

inline std::string deflated(std::string_view content) {
  z_stream z{};
  if (deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  std::string packed(deflateBound(&z, content.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

/// The archive's bytes. As zip64 every size and offset stands in the extra fields and the zip64 end
/// record, though none is large.
inline Buffer make_zip(const std::vector<ZipEntry>& entries, ZipForm form = ZipForm::plain,
                       std::string_view comment = {}) {
  const bool zip64 = form == ZipForm::zip64;
  constexpr std::uint32_t elsewhere = 0xffffffff;
  Buffer zip, directory;
  const auto put_common = [](Buffer& to, const ZipEntry& entry, std::uint32_t crc,
                             std::uint32_t packed, std::uint32_t size) {
    append_le<std::uint16_t>(to, 20);  // version needed
    append_le(to, entry.flags);
    append_le(to, entry.method);
    append_le<std::uint32_t>(to, 0x21);  // the first day of 1980
    append_le(to, crc);
    append_le(to, packed);
    append_le(to, size);
    append_le(to, static_cast<std::uint16_t>(entry.name.size()));
  };
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.method == 8 ? deflated(entry.content) : entry.content;
    const auto size = static_cast<std::uint32_t>(entry.content.size());
    const auto packed_size = static_cast<std::uint32_t>(packed.size());
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()), size));
    const auto offset = static_cast<std::uint32_t>(zip.size());
    append_le<std::uint32_t>(zip, 0x04034b50);
    put_common(zip, entry, crc, packed_size, size);
    append_le<std::uint16_t>(zip, 4);  // an extra field that only the local header has
    append(zip, as_bytes(entry.name));
    append_le<std::uint32_t>(zip, 0x0000cafe);
    append(zip, as_bytes(packed));
    append_le<std::uint32_t>(directory, 0x02014b50);
    append_le<std::uint16_t>(directory, 20);  // version made by
    put_common(directory, entry, crc, zip64 ? elsewhere : packed_size, zip64 ? elsewhere : size);
    append_le<std::uint16_t>(directory, zip64 ? 28 : 0);  // bytes of extra fields
    append_le<std::uint16_t>(directory, 0);               // of a comment
    append_le<std::uint64_t>(directory, 0);               // volume, attributes
    append_le(directory, zip64 ? elsewhere : offset);
    append(directory, as_bytes(entry.name));
    if (!zip64) continue;
    append_le<std::uint16_t>(directory, 1);
    append_le<std::uint16_t>(directory, 24);
    for (const std::uint32_t value : {size, packed_size, offset}) {
      append_le<std::uint64_t>(directory, value);
    }
  }
  const std::uint64_t start = zip.size();
  const std::uint64_t count = entries.size();
  append(zip, directory);
  if (zip64) {
    const std::uint64_t at = zip.size();
    append_le<std::uint32_t>(zip, 0x06064b50);
    append_le<std::uint64_t>(zip, 44);  // bytes of the record that follow
    append_le<std::uint32_t>(zip, 0);   // versions
    append_le<std::uint64_t>(zip, 0);   // volumes
    append_le(zip, count);
    append_le(zip, count);
    append_le<std::uint64_t>(zip, directory.size());
    append_le(zip, start);
    append_le<std::uint32_t>(zip, 0x07064b50);
    append_le<std::uint32_t>(zip, 0);
    append_le(zip, at);
    append_le<std::uint32_t>(zip, 1);
  }
  append_le<std::uint32_t>(zip, 0x06054b50);
  append_le<std::uint32_t>(zip, 0);  // volumes
  for (int i = 0; i < 2; ++i) {
    append_le(zip, static_cast<std::uint16_t>(zip64 ? 0xffff : count));
  }
  append_le(zip, zip64 ? elsewhere : static_cast<std::uint32_t>(directory.size()));
  append_le(zip, zip64 ? elsewhere : static_cast<std::uint32_t>(start));
  append_le(zip, static_cast<std::uint16_t>(comment.size()));
  append(zip, as_bytes(comment));
  return zip;
}

}  // namespace feedrate::testing
