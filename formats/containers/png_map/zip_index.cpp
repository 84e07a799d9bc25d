#include "formats/containers/png_map/zip_index.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "formats/base/checksum.h"
#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_locator_signature = 0x07064b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::uint32_t local_signature = 0x04034b50;

// Bytes of each record in front of its names and comments.
constexpr std::size_t end_bytes = 22;
constexpr std::size_t end64_locator_bytes = 20;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t central_bytes = 46;
constexpr std::size_t local_bytes = 30;

constexpr std::size_t max_comment_bytes = 0xffff;
constexpr std::uint16_t in_zip64_16 = 0xffff;  // "see the zip64 record", in fields of each size
constexpr std::uint32_t in_zip64_32 = 0xffffffff;

constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint16_t encrypted_flag = 1;

// One bit of deflate makes at most 258 bytes of the content: a ratio of 1032. What states more is
// not believed, and memory for it never asked for.
constexpr std::uint64_t max_ratio = 1032;

std::string_view method_name(std::uint16_t method) {
  switch (method) {
    case 1:
      return "shrink";
    case 6:
      return "implode";
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "LZMA";
    case 93:
      return "zstd";
    case 95:
      return "xz";
    case 99:
      return "AES encryption";
    default:
      return "an unknown method";
  }
}

// zlib's state for one entry after the other; one for each thread, for making it costs more than
// inflating a small image.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&z_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // raw: no zlib header
  }
  ~Inflater() { inflateEnd(&z_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// True when `packed` is, to its last byte, one deflate stream that fills `content`.
  bool inflate_all(Bytes packed, MutableBytes content) {
    inflateReset(&z_);
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    z_.next_out = reinterpret_cast<Bytef*>(content.data());
    std::size_t in_left = packed.size();
    std::size_t out_left = content.size();
    int code = Z_OK;
    while (code == Z_OK) {  // in pieces that zlib's unsigned int can count
      const auto in = static_cast<uInt>(std::min(in_left, max_at_once));
      const auto out = static_cast<uInt>(std::min(out_left, max_at_once));
      z_.avail_in = in;
      z_.avail_out = out;
      code = inflate(&z_, Z_NO_FLUSH);
      in_left -= in - z_.avail_in;
      out_left -= out - z_.avail_out;
    }
    return code == Z_STREAM_END && in_left == 0 && out_left == 0;
  }

 private:
  static constexpr std::size_t max_at_once = std::size_t{1} << 30;
  z_stream z_{};
};

}  // namespace

ZipIndex::ZipIndex(const std::filesystem::path& path) : file_(path) {
  try {
    read_directory(find_directory());
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

// The end record is the last thing in the file but for a comment, whose length it states.
ZipIndex::Directory ZipIndex::find_directory() const {
  const Bytes bytes = file_.bytes();
  const std::size_t farthest = end_bytes + max_comment_bytes;
  for (std::size_t back = end_bytes; back <= std::min(bytes.size(), farthest); ++back) {
    const std::uint64_t at = bytes.size() - back;
    const std::byte* record = bytes.data() + at;
    if (load_le<std::uint32_t>(record) != end_signature) continue;
    if (load_le<std::uint16_t>(record + 20) != back - end_bytes) continue;
    Directory directory;
    directory.entries = load_le<std::uint16_t>(record + 10);
    directory.size = load_le<std::uint32_t>(record + 12);
    directory.offset = load_le<std::uint32_t>(record + 16);
    const bool zip64 = directory.entries == in_zip64_16 || directory.size == in_zip64_32 ||
                       directory.offset == in_zip64_32;
    const bool volumes = load_le<std::uint16_t>(record + 4) != load_le<std::uint16_t>(record + 6) ||
                         load_le<std::uint16_t>(record + 8) != load_le<std::uint16_t>(record + 10);
    if (zip64 && at >= end64_locator_bytes &&
        load_le<std::uint32_t>(record - end64_locator_bytes) == end64_locator_signature) {
      return read_zip64(at);
    }
    if (volumes) throw Error("is one of several volumes; join them first");
    return directory;
  }
  throw Error("is no zip archive: it has no end record; is it cut short?");
}

ZipIndex::Directory ZipIndex::read_zip64(std::uint64_t end_record) const {
  const Bytes bytes = file_.bytes();
  const std::uint64_t locator = end_record - end64_locator_bytes;
  const auto at = load_le<std::uint64_t>(bytes.data() + locator + 8);
  if (at > locator || locator - at < end64_bytes ||
      load_le<std::uint32_t>(bytes.data() + at) != end64_signature) {
    throw Error(join("byte ", locator, ": no zip64 end record is at byte ", at));
  }
  const std::byte* record = bytes.data() + at;
  if (load_le<std::uint64_t>(record + 24) != load_le<std::uint64_t>(record + 32)) {
    throw Error("is one of several volumes; join them first");
  }
  return {.offset = load_le<std::uint64_t>(record + 48),
          .size = load_le<std::uint64_t>(record + 40),
          .entries = load_le<std::uint64_t>(record + 32)};
}

void ZipIndex::read_directory(const Directory& directory) {
  const Bytes bytes = file_.bytes();
  if (directory.offset > bytes.size() || directory.size > bytes.size() - directory.offset) {
    throw Error(join("a directory of ", directory.size, " bytes at byte ", directory.offset,
                     " is beyond the end; is the zip cut short?"));
  }
  Bytes rest = bytes.subspan(directory.offset, directory.size);
  for (std::uint64_t number = 0; number < directory.entries; ++number) {
    const auto at = static_cast<std::uint64_t>(rest.data() - bytes.data());
    if (rest.size() < central_bytes || load_le<std::uint32_t>(rest.data()) != central_signature) {
      throw Error(join("byte ", at, ": expected entry ", number, " of the directory's ",
                       directory.entries));
    }
    const std::byte* record = rest.data();
    const std::size_t name_bytes = load_le<std::uint16_t>(record + 28);
    const std::size_t extra_bytes = load_le<std::uint16_t>(record + 30);
    const std::size_t comment_bytes = load_le<std::uint16_t>(record + 32);
    if (rest.size() - central_bytes < name_bytes + extra_bytes + comment_bytes) {
      throw Error(join("byte ", at, ": entry ", number, " is longer than the directory"));
    }
    Entry entry{.header = load_le<std::uint32_t>(record + 42),
                .packed = load_le<std::uint32_t>(record + 20),
                .size = load_le<std::uint32_t>(record + 24),
                .crc = load_le<std::uint32_t>(record + 16),
                .method = load_le<std::uint16_t>(record + 10),
                .flags = load_le<std::uint16_t>(record + 8)};
    const std::string_view name = as_text(rest.subspan(central_bytes, name_bytes));
    read_zip64_extra(rest.subspan(central_bytes + name_bytes, extra_bytes), entry);
    if (!entries_.emplace(name, entry).second) {
      throw Error(join("byte ", at, ": holds two entries called ", name));
    }
    rest = rest.subspan(central_bytes + name_bytes + extra_bytes + comment_bytes);
  }
}

// Where a field says "see zip64", the extra field 1 has its value; in this order, only those.
void ZipIndex::read_zip64_extra(Bytes extra, Entry& entry) {
  constexpr std::uint16_t zip64_id = 1;
  constexpr std::size_t head = 4;
  while (extra.size() >= head) {
    const auto id = load_le<std::uint16_t>(extra.data());
    const std::size_t size = load_le<std::uint16_t>(extra.data() + 2);
    if (size > extra.size() - head) return;
    Bytes values = extra.subspan(head, size);
    for (std::uint64_t* field : {&entry.size, &entry.packed, &entry.header}) {
      if (id != zip64_id || *field != in_zip64_32 || values.size() < sizeof(*field)) continue;
      *field = load_le<std::uint64_t>(values.data());
      values = values.subspan(sizeof(*field));
    }
    extra = extra.subspan(head + size);
  }
}

// The data lie behind the local header, whose extra field has a length of its own.
Bytes ZipIndex::data_of(const Entry& entry, std::string_view name) const {
  const Bytes bytes = file_.bytes();
  if (entry.header > bytes.size() || bytes.size() - entry.header < local_bytes ||
      load_le<std::uint32_t>(bytes.data() + entry.header) != local_signature) {
    throw Error(join("no entry starts at byte ", entry.header, ", where the directory says"));
  }
  const std::byte* record = bytes.data() + entry.header;
  const std::size_t name_bytes = load_le<std::uint16_t>(record + 26);
  const std::size_t extra_bytes = load_le<std::uint16_t>(record + 28);
  const Bytes rest = bytes.subspan(entry.header + local_bytes);
  if (rest.size() < name_bytes + extra_bytes ||
      rest.size() - name_bytes - extra_bytes < entry.packed) {
    throw Error(
        join("the entry's ", entry.packed, " bytes go beyond the end; is the zip cut short?"));
  }
  if (as_text(rest.first(name_bytes)) != name) {
    throw Error(
        join("the entry at byte ", entry.header, " has another name than in the directory"));
  }
  return rest.subspan(name_bytes + extra_bytes, entry.packed);
}

Bytes ZipIndex::read(std::string_view name, Buffer& storage) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw Error("there is no such entry in the zip");
  const Entry& entry = found->second;
  if ((entry.flags & encrypted_flag) != 0) throw Error("the entry is encrypted");
  if (entry.method != stored && entry.method != deflated) {
    throw Error(join("the entry is compressed by ", method_name(entry.method), " (", entry.method,
                     "); Feedrate reads stored and deflated ones"));
  }
  const Bytes packed = data_of(entry, name);
  Bytes content = packed;
  if (entry.method == stored) {
    if (entry.size != entry.packed) {
      throw Error(join("the stored entry has two sizes, ", entry.packed, " and ", entry.size));
    }
  } else {
    if (entry.size / max_ratio > packed.size()) {
      throw Error(join(packed.size(), " bytes cannot hold the ", entry.size, " that are stated"));
    }
    if (storage.size() <= entry.size) storage.resize(entry.size + 1);  // zlib wants an address
    thread_local Inflater inflater;
    const MutableBytes target = MutableBytes(storage).first(entry.size);
    if (!inflater.inflate_all(packed, target)) throw Error("the entry's deflate data is damaged");
    content = target;
  }
  const std::uint32_t crc = zip_crc32(content);
  if (crc != entry.crc) throw Error(join("the entry's CRC is ", crc, ", expected ", entry.crc));
  return content;
}

}  // namespace feedrate::formats
