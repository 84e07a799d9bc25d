#pragma once
// gzip: reading by ISA-L, which checks what libarchive does not; writing by zlib, which is
// reproducible. Also reading zlib's own form of the same data.

#include <memory>
#include <string>

#include "formats/io/byte_stream.h"
#include "formats/io/file.h"

namespace feedrate::formats {

/// Decompresses `source`, gzip data of one or more members. Checks CRC and length of every member.
/// Data that is truncated, damaged or followed by something else is an Error naming `place` and the
/// offset in the compressed data.
std::unique_ptr<ByteStream> open_gunzip(std::unique_ptr<ByteStream> source, std::string place);

/// The same for one zlib stream (RFC 1950), with its Adler-32.
std::unique_ptr<ByteStream> open_zlib(std::unique_ptr<ByteStream> source, std::string place);

/// Whether the bytes begin with the magic number of gzip.
bool is_gzip(Bytes start);
/// The same for a zlib stream of deflate's usual window: its first two bytes are a multiple of 31.
bool is_zlib(Bytes start);

/// Writes one gzip member. The same content gives the same bytes: no name, no time. One thread.
class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(Bytes bytes);
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::formats
