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

  /// The next block, or the first `most` bytes of it, valid until the next call of anything here;
  /// empty at the end. The block of a map is all that is left of it.
  Bytes next(std::size_t most = std::numeric_limits<std::size_t>::max());
  /// The same block, without taking it.
  Bytes peek();
  /// Passes over up to `count` bytes without reading them; returns how many (0: read them).
  std::uint64_t skip(std::uint64_t count) { return held_ ? 0 : do_skip(count); }
  /// Continues at `position`, only where `seekable`.
  void seek(std::uint64_t position);

  virtual bool seekable() const { return false; }
  /// All bytes of the stream; 0 when not known.
  virtual std::uint64_t size() const { return 0; }

  /// The bytes themselves, where they lie in memory in one piece as long as the stream lives.
  virtual std::optional<Bytes> whole() const { return std::nullopt; }
  /// What stands in whole() before `end` is not needed soon: a map gives its memory back. It stays
  /// valid.
  virtual void passed(const std::byte* end) { (void)end; }
  /// The same of some of the bytes; nothing happens to bytes that are not of whole().
  virtual void give_back(Bytes part) { (void)part; }

 private:
  virtual Bytes fetch() = 0;
  virtual std::uint64_t do_skip(std::uint64_t) { return 0; }
  virtual void do_seek(std::uint64_t) {}

  std::optional<Bytes> held_;
};

/// A regular file that is not compressed is mapped: `whole` gives it, and memory is given back some
/// way behind the reader. Such a file must not shrink meanwhile: the system then ends the process.
/// Anything else is read. Throws Error when `path` is a directory or cannot be opened.
std::unique_ptr<ByteStream> open_file_stream(const std::filesystem::path& path);

struct Decompressed {
  std::unique_ptr<ByteStream> stream;
  std::string_view suffix;  // ".gz" …; empty when the bytes were not compressed
};

/// `source` decompressed when its first bytes say gzip, bzip2, xz or zstd; otherwise as it came.
/// `place` names it in errors. The end of the stream is an end only after every checksum agreed.
Decompressed decompress(std::unique_ptr<ByteStream> source, const std::string& place);

}  // namespace feedrate::formats
