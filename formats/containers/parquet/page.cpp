#include "formats/containers/parquet/page.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "formats/base/checksum.h"
#include "formats/base/error.h"
#include "formats/containers/parquet/levels.h"
#include "formats/containers/parquet/recode.h"
#include "formats/containers/parquet/snappy.h"
#include "formats/containers/parquet/thrift.h"
#include "formats/io/byte_stream.h"

namespace feedrate::formats {
namespace {

using Type = ThriftReader::Type;
using PageKind = ParquetPage::Kind;

// As Parquet numbers them.
enum Packing : std::int32_t { stored_as_is, snappy, gzip, lzo, brotli, lz4, zstd, lz4_raw };
constexpr std::string_view codec_names[] = {"none",   "SNAPPY", "GZIP", "LZO",
                                            "BROTLI", "LZ4",    "ZSTD", "LZ4_RAW"};
enum Coding : std::int32_t { plain = 0, plain_dictionary = 2, rle = 3, rle_dictionary = 8 };
constexpr std::string_view coding_names[] = {
    "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
    "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};

template <std::size_t count>
std::string name_of(const std::string_view (&names)[count], std::int32_t number) {
  if (number >= 0 && number < static_cast<std::int32_t>(count)) {
    return std::string(names[static_cast<std::size_t>(number)]);
  }
  return join("number ", number);
}

std::uint64_t natural(std::int64_t value, std::string_view what) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // heads state numbers of 32 bits
  if (value < 0 || value >= most) throw Error(join("a page's head states ", value, " ", what));
  return static_cast<std::uint64_t>(value);
}

/// The part of a head that belongs to its kind. The three kinds number their fields alike, as far
/// as they matter here: the values are first, the encoding is at `coding`.
void read_kind(ThriftReader& in, std::int32_t coding, std::int32_t levels, ParquetPage& page,
               bool& compressed) {
  in.record([&](std::int32_t field, Type type) {
    if (field == 1) {
      page.values = natural(in.integer(type), "values");
    } else if (field == coding) {
      page.encoding = static_cast<std::int32_t>(in.integer(type));
    } else if (field == levels) {
      page.levels = static_cast<std::int32_t>(in.integer(type));
    } else if (page.kind == PageKind::data2 && (field == 5 || field == 6)) {
      const std::uint64_t bytes = natural(in.integer(type), "bytes of levels");
      page.level_bytes += bytes;
      if (field == 6) page.repeat_bytes = bytes;
    } else if (page.kind == PageKind::data2 && field == 7) {
      compressed = in.yes_or_no(type);
    } else {
      in.skip(type);
    }
  });
}

struct Head {
  ParquetPage page;
  std::int64_t type = -1;
  std::uint64_t stored = 0;  // bytes
  bool described = false;
};

Head read_head(ThriftReader& in, std::int32_t codec) {
  constexpr std::int64_t data = 0, dictionary = 2, data2 = 3;
  Head head;
  bool compressed = true;
  in.record([&](std::int32_t field, Type type) {
    const auto of_kind = [&](std::int64_t expected, PageKind kind, std::int32_t coding,
                             std::int32_t levels) {
      if (head.type != expected) return in.skip(type);
      head.page.kind = kind;
      head.described = true;
      read_kind(in, coding, levels, head.page, compressed);
    };
    switch (field) {
      case 1:
        head.type = in.integer(type);
        break;
      case 2:
        head.page.unpacked = natural(in.integer(type), "bytes");
        break;
      case 3:
        head.stored = natural(in.integer(type), "bytes");
        break;
      case 4:
        head.page.crc = static_cast<std::uint32_t>(in.integer(type));
        break;
      case 5:
        of_kind(data, PageKind::data, 2, 3);
        break;
      case 7:
        of_kind(dictionary, PageKind::dictionary, 2, -1);
        break;
      case 8:
        of_kind(data2, PageKind::data2, 4, -1);
        break;
      default:
        in.skip(type);
    }
  });
  head.page.codec = compressed ? codec : stored_as_is;
  return head;
}

class PageBytes final : public ByteStream {
 public:
  explicit PageBytes(Bytes bytes) : left_(bytes) {}

 private:
  Bytes fetch() override { return std::exchange(left_, {}); }
  Bytes left_;
};

void unpack_stream(const ParquetPage& page, Bytes packed, std::string_view suffix,
                   MutableBytes into) {
  const Decompressed found = decompress(std::make_unique<PageBytes>(packed), "the page");
  if (found.suffix != suffix) throw Error(join("is not ", name_of(codec_names, page.codec)));
  std::size_t done = 0;
  for (Bytes block = found.stream->next(); !block.empty(); block = found.stream->next()) {
    if (block.size() > into.size() - done) break;
    std::copy(block.begin(), block.end(), into.begin() + static_cast<std::ptrdiff_t>(done));
    done += block.size();
  }
  if (done != into.size() || !found.stream->next().empty()) {
    throw Error(
        join("holds another number of bytes than the ", into.size(), " that its head states"));
  }
}

/// Bytes that are read from front to back.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : left_(bytes) {}
  Bytes take(std::uint64_t count, std::string_view what) {
    if (count > left_.size()) {
      throw Error(join(what, " takes ", count, " bytes, ", left_.size(), " are left"));
    }
    const Bytes taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::uint32_t size() { return load_le<std::uint32_t>(take(4, "a size").data()); }
  Bytes left() const { return left_; }

 private:
  Bytes left_;
};

/// Reads `count` values as they are.
template <class OnBytes, class OnInteger>
void read_plain(Cursor& in, ParquetType type, std::uint64_t count, const OnBytes& bytes,
                const OnInteger& integer) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type == ParquetType::bytes) {
      bytes(in.take(in.size(), "a value"));
    } else if (type == ParquetType::int32) {
      integer(std::int64_t{load_le<std::int32_t>(in.take(4, "a value").data())});
    } else {
      integer(load_le<std::int64_t>(in.take(8, "a value").data()));
    }
  }
}

/// Reads `count` values of a bit each, as they are or in runs.
template <class OnInteger>
void read_booleans(Cursor& in, const ParquetPage& page, std::uint64_t count,
                   const OnInteger& integer) {
  if (page.encoding == rle) {
    LevelReader(in.take(in.size(), "a run"), 1).read(count, integer);
    return;
  }
  if (page.encoding != plain) {
    throw Error(join("has values in the encoding ", name_of(coding_names, page.encoding),
                     ", which Feedrate does not read of booleans; it reads PLAIN and RLE"));
  }
  const Bytes bits = in.take((count + 7) / 8, "its values");
  for (std::uint64_t i = 0; i < count; ++i) {
    integer(std::to_integer<std::int64_t>(bits[i / 8] >> i % 8 & std::byte{1}));
  }
}

}  // namespace

void each_parquet_page(Bytes file, const ParquetChunk& chunk,
                       const std::function<void(const ParquetPage&)>& page) {
  std::uint64_t at = chunk.begin, values = 0;
  const std::uint64_t end = chunk.begin + chunk.size;
  while (values < chunk.values) {
    if (at >= end) {
      throw Error(join("byte ", at, ": expected ", chunk.values, " values, found ", values,
                       " in all pages"));
    }
    ThriftReader in(file.subspan(at, end - at), at);
    Head head = read_head(in, chunk.codec);
    head.page.offset = at + in.position();
    if (head.stored > end - head.page.offset) {
      throw Error(join("byte ", at, ": a page states ", head.stored, " bytes, ",
                       end - head.page.offset, " are left of its column"));
    }
    if (head.page.values > chunk.values - values) {
      throw Error(join("byte ", at, ": a page states ", head.page.values, " values, more than the ",
                       chunk.values - values, " that its column still has"));
    }
    head.page.stored = file.subspan(head.page.offset, head.stored);
    at = head.page.offset + head.stored;
    constexpr std::int64_t index = 1;
    if (head.type == index) continue;
    if (!head.described) {
      throw Error(join("byte ", at - head.stored, ": a page of the unknown type ", head.type));
    }
    if (head.page.kind != PageKind::dictionary) values += head.page.values;
    page(head.page);
  }
  if (values != chunk.values) {
    throw Error(join("expected ", chunk.values, " values, found ", values, " in its pages"));
  }
}

namespace {

Bytes decompressed(const ParquetPage& page, Buffer& memory) {
  if (page.level_bytes > page.stored.size() || page.level_bytes > page.unpacked) {
    throw Error("its levels take more bytes than it has");
  }
  if (page.codec == stored_as_is) {
    if (page.stored.size() != page.unpacked) {
      throw Error(join("states ", page.unpacked, " bytes, and ", page.stored.size(),
                       " that are not compressed"));
    }
    return page.stored;
  }
  // Of values that are all missing, nothing is left to compress.
  if (page.unpacked == page.level_bytes && page.stored.size() == page.level_bytes)
    return page.stored;
  // No image or label shrinks like that; a forged head must not fill memory.
  constexpr std::uint64_t plausible = std::uint64_t{64} << 20, ratio = 1000;
  if (page.unpacked > plausible && page.unpacked / ratio > page.stored.size()) {
    throw Error(join("states ", page.unpacked, " bytes, packed in ", page.stored.size()));
  }
  const Bytes packed = page.stored.subspan(page.level_bytes);
  const MutableBytes into = grown(memory, page.unpacked);
  std::copy_n(page.stored.begin(), page.level_bytes, into.begin());
  const MutableBytes values = into.subspan(page.level_bytes);
  switch (page.codec) {
    case snappy:
      unpack_snappy(packed, values);
      break;
    case gzip:
      unpack_stream(page, packed, ".gz", values);
      break;
    case zstd:
      unpack_stream(page, packed, ".zst", values);
      break;
    default:
      throw Error(join("is compressed with ", name_of(codec_names, page.codec),
                       ", which Feedrate does not read; it reads SNAPPY, GZIP, ZSTD and none"));
  }
  return into;
}

/// What stands in front of the values of a page: which of them are there. Empty where all are.
Bytes take_levels(Cursor& in, const ParquetPage& page, const ParquetColumn& column) {
  if (page.kind == PageKind::data2) {
    const Bytes all = in.take(page.level_bytes, "its levels");
    if (page.repeat_bytes > all.size()) throw Error("its levels take more bytes than it has");
    return all.subspan(page.repeat_bytes);
  }
  if (column.optional == 0) return {};
  if (page.levels != rle) {
    throw Error(join("says which values are missing in the encoding ",
                     name_of(coding_names, page.levels), ", which Feedrate does not read"));
  }
  // Lists hold one value each, so that where they begin says nothing.
  if (column.repeated != 0) in.take(in.size(), "its levels");
  return in.take(in.size(), "its levels");
}

}  // namespace

bool is_packed(const ParquetPage& page) {
  return page.codec != stored_as_is || is_recoded(page.encoding);
}

Bytes unpacked_parquet_page(const ParquetPage& page, Buffer& memory, const ParquetColumn& column) {
  if (!is_recoded(page.encoding) || page.kind == PageKind::dictionary)
    return decompressed(page, memory);
  Buffer unpacked;
  const Bytes content = decompressed(page, unpacked);
  Cursor in(content);
  take_levels(in, page, column);
  const Bytes values = in.left();
  Buffer plain;
  append(plain, content.first(content.size() - values.size()));
  if (!values.empty()) recode_parquet_values(page, column.type, values, plain);
  memory = std::move(plain);
  return memory;
}

bool holds_entries(const ParquetPage& page) {
  return page.encoding == rle_dictionary || page.encoding == plain_dictionary;
}

void check_parquet_page(const ParquetPage& page) {
  if (!page.crc) return;
  const std::uint32_t found = zip_crc32(page.stored);
  if (found != *page.crc) throw Error(join("expected the CRC ", *page.crc, ", found ", found));
}

ParquetDictionary read_parquet_dictionary(const ParquetPage& page, Bytes content,
                                          ParquetType type) {
  if (page.encoding != plain && page.encoding != plain_dictionary) {
    throw Error(join("is a dictionary in the encoding ", name_of(coding_names, page.encoding)));
  }
  ParquetDictionary dictionary;
  Cursor in(content);
  read_plain(
      in, type, page.values, [&](Bytes value) { dictionary.texts.push_back(value); },
      [&](std::int64_t value) { dictionary.integers.push_back(value); });
  return dictionary;
}

void read_parquet_values(const ParquetPage& page, Bytes content, const ParquetColumn& column,
                         const ParquetDictionary& dictionary, const ParquetSink& sink) {
  Cursor in(content);
  std::vector<bool> there;  // empty: all are
  const Bytes levels = take_levels(in, page, column);
  if (column.optional != 0) {
    there.reserve(page.values);
    LevelReader(levels, static_cast<unsigned>(std::bit_width(column.optional)))
        .read(page.values, [&](std::uint32_t level) { there.push_back(level == column.optional); });
  }
  const std::uint64_t present =
      there.empty() ? page.values
                    : static_cast<std::uint64_t>(std::count(there.begin(), there.end(), true));
  std::size_t row = 0;
  const auto pass_missing = [&] {
    for (; row < there.size() && !there[row]; ++row) sink.missing();
    ++row;
  };
  const auto give = [&](const auto& take, const auto& value) {
    pass_missing();
    take(value);
  };
  if (column.type == ParquetType::boolean) {
    read_booleans(in, page, present, [&](std::int64_t value) { give(sink.integer, value); });
  } else if (page.encoding == plain || is_recoded(page.encoding)) {
    read_plain(
        in, column.type, present, [&](Bytes value) { give(sink.bytes, value); },
        [&](std::int64_t value) { give(sink.integer, value); });
  } else if (holds_entries(page)) {
    const bool of_bytes = column.type == ParquetType::bytes;
    const std::size_t size = of_bytes ? dictionary.texts.size() : dictionary.integers.size();
    const auto width = present == 0 ? 0U : std::to_integer<unsigned>(in.take(1, "a width")[0]);
    LevelReader(in.left(), width).read(present, [&](std::uint32_t entry) {
      if (sink.entry) return give(sink.entry, entry);
      if (entry >= size) throw Error(join("names entry ", entry, " of a dictionary of ", size));
      if (of_bytes) {
        give(sink.bytes, dictionary.texts[entry]);
      } else {
        give(sink.integer, dictionary.integers[entry]);
      }
    });
  } else {
    throw Error(join("has values in the encoding ", name_of(coding_names, page.encoding),
                     ", which Feedrate does not read; it reads PLAIN, dictionaries, DELTA_… and ",
                     "BYTE_STREAM_SPLIT"));
  }
  for (; row < there.size(); ++row) sink.missing();
}

}  // namespace feedrate::formats
