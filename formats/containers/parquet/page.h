#pragma once
// The pages of a column's chunk: their heads, and their values once they are unpacked.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "formats/containers/parquet/footer.h"

namespace feedrate::formats {

/// A page in its file. Its bytes are those that are stored.
struct ParquetPage {
  enum class Kind : std::uint8_t { dictionary, data, data2 };
  Kind kind = Kind::data;
  Bytes stored;
  std::uint64_t offset = 0;  // of `stored` in the file
  std::uint64_t unpacked = 0;
  std::uint64_t values = 0;          // those missing included
  std::int32_t encoding = 0;         // of the values
  std::int32_t levels = 0;           // the encoding of which values are missing
  std::uint64_t level_bytes = 0;     // data2: in front of the values, never compressed
  std::uint64_t repeat_bytes = 0;    // data2: of those, the first, which say where lists begin
  std::int32_t codec = 0;            // 0 where the values are stored as they are
  std::optional<std::uint32_t> crc;  // of `stored`
};

/// Calls page() for each page of a chunk, in order. Throws Error, naming the byte, for damage.
void each_parquet_page(Bytes file, const ParquetChunk& chunk,
                       const std::function<void(const ParquetPage&)>& page);

/// False for a page whose values lie in the file as they are read.
bool is_packed(const ParquetPage& page);

/// The page's bytes, unpacked into `memory` where they are packed; views of the file otherwise. Throws
/// Error for damage, and for a compression that is not read, with its name.
Bytes unpacked_parquet_page(const ParquetPage& page, Buffer& memory, const ParquetColumn& column);

/// True for a data page whose values are numbers of a dictionary's entries.
bool holds_entries(const ParquetPage& page);

/// Throws Error where the bytes are not those of the page's checksum, if it has one.
void check_parquet_page(const ParquetPage& page);

/// The values of a dictionary.
struct ParquetDictionary {
  std::vector<Bytes> texts;            // of a column of bytes
  std::vector<std::int64_t> integers;  // of one of numbers
};

/// Where values go: value(bytes) or value(number) for each that is there, missing() for the others,
/// in the order of the rows.
struct ParquetSink {
  std::function<void(Bytes)> bytes;
  std::function<void(std::int64_t)> integer;
  std::function<void()> missing;
  /// Where it is set, it gets the numbers of a dictionary's entries, which need not be there.
  std::function<void(std::uint32_t)> entry = {};
};

/// Reads a dictionary's `content`, which it views. Throws Error for damage.
ParquetDictionary read_parquet_dictionary(const ParquetPage& page, Bytes content, ParquetType type);

/// Gives the values of a data page with the unpacked `content` to `sink`. Throws Error for damage,
/// and for an encoding that is not read, with its name.
void read_parquet_values(const ParquetPage& page, Bytes content, const ParquetColumn& column,
                         const ParquetDictionary& dictionary, const ParquetSink& sink);

}  // namespace feedrate::formats
