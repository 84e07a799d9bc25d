#pragma once
// A Parquet file's footer: its columns, and where their chunks lie.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// The physical types of values, as Parquet numbers them.
enum class ParquetType : std::int32_t {
  boolean,
  int32,
  int64,
  int96,
  real32,
  real64,
  bytes,
  fixed_bytes,
};

/// What the schema says that a column's values mean, as far as it matters for images and labels.
enum class ParquetMeaning : std::uint8_t {
  as_stored,
  natural,  // whole numbers from 0: all bits count
  text,     // bytes in UTF-8
  json,
  decimal,
  date,
  time,
  timestamp,
};

/// A column with values; structs have none, but their members have.
struct ParquetColumn {
  std::vector<std::string> path;  // "image", "bytes"
  ParquetType type = ParquetType::boolean;
  ParquetMeaning meaning = ParquetMeaning::as_stored;
  std::uint32_t optional = 0;  // levels at which a value may be missing: itself, its structs
  std::uint32_t repeated = 0;  // lists that it is in

  std::string name() const;  // "image.bytes"
  bool is_text() const { return meaning == ParquetMeaning::text; }
};

/// The values of a column in a row group.
struct ParquetChunk {
  ParquetType type = ParquetType::boolean;
  std::int32_t codec = 0;
  std::uint64_t values = 0;
  std::uint64_t begin = 0;  // of its first page, in the file
  std::uint64_t size = 0;   // of all its pages
  std::uint64_t unpacked = 0;
  bool recoded = false;    // some pages are in encodings of recode.h
  bool elsewhere = false;  // in another file
  bool encrypted = false;  // then nothing else need be true
};

struct ParquetRowGroup {
  std::uint64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // by column
};

struct ParquetFooter {
  std::uint64_t rows = 0;
  std::vector<ParquetColumn> columns;
  std::vector<ParquetRowGroup> row_groups;
  std::string features;     // what Hugging Face's datasets wrote of the columns: JSON, or empty
  std::uint64_t begin = 0;  // in the file: the end of the pages
};

/// Parses the footer of a whole file. Throws Error, without naming the file, for what is no Parquet
/// file, is encrypted, or contradicts itself.
ParquetFooter parse_parquet_footer(Bytes file);

/// True when the bytes start like a Parquet file's.
bool is_parquet(Bytes start);

}  // namespace feedrate::formats
