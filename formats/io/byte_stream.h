#pragma once
// Bytes that arrive in blocks: a file, an entry of an archive, or either of them decompressed.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// One thread. Failures are Errors that name the file and the offset.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// The next block, or its first `max_bytes` bytes; empty at the end. Valid until the next call of
  /// any member. A mapped file is one block: all that is left of it.
  Bytes next(std::size_t max_bytes = std::numeric_limits<std::size_t>::max());
  /// The same block, without taking it.
  Bytes peek();
  /// Skips up to `count` bytes without reading them; returns how many (0: read them instead).
  std::uint64_t skip(std::uint64_t count) { return held_ ? 0 : do_skip(count); }
  /// Continues at `position`, only where `seekable`.
  void seek(std::uint64_t position);

  virtual bool seekable() const { return false; }
  /// Size of the whole stream; 0 when unknown.
  virtual std::uint64_t size() const { return 0; }

  /// All bytes of the stream, where they are contiguous in memory for as long as the stream lives.
  virtual std::optional<Bytes> whole() const { return std::nullopt; }
  /// Says that the bytes of whole() before `end` are not needed soon, so that a map can give back
  /// their memory. They stay valid.
  virtual void passed(const std::byte* end) { (void)end; }
  /// The same for `part` of the bytes. Ignored unless it lies in whole().
  virtual void give_back(Bytes part) { (void)part; }

 private:
  virtual Bytes fetch() = 0;
  virtual std::uint64_t do_skip(std::uint64_t) { return 0; }
  virtual void do_seek(std::uint64_t) {}

  std::optional<Bytes> held_;
};

/// Opens a regular file. Where it is not compressed it is mapped: whole() returns it, and memory is
/// given back some way behind the reader. Such a file must not shrink meanwhile, or the system ends
/// the process. Throws Error when `path` is no regular file or cannot be opened.
std::unique_ptr<ByteStream> open_file_stream(const std::filesystem::path& path);
/// The same, but a pipe or a device is read. Waiting for a pipe's bytes ends with Stopped when a stop
/// is requested.
std::unique_ptr<ByteStream> open_any_stream(const std::filesystem::path& path);

struct Decompressed {
  std::unique_ptr<ByteStream> stream;
  std::string_view suffix;  // ".gz" …; empty when the bytes were not compressed
};

/// `source` decompressed, if its first bytes are those of gzip, bzip2, xz or zstd; otherwise
/// `source` itself. `place` names it in errors. The stream ends normally only when every checksum
/// matches.
Decompressed decompress(std::unique_ptr<ByteStream> source, const std::string& place);

}  // namespace feedrate::formats
