#pragma once
// Walks an archive entry by entry as a stream, by libarchive: tar (plain, gz, bz2, xz, zst), zip, a
// single compressed file (one entry), and a tar inside a tar without a temporary file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::formats {
class ByteStream;
}

namespace feedrate::converters {

/// One thread. Every failure (not an archive, truncated, bad checksum) is an Error that names the
/// file, the entry and the offset in the entry. An archive that stops without its end marker is
/// truncated, even where it stops between two entries.
class Archive {
 public:
  /// Opens a file. A file that is no archive and not compressed is one entry of its own name; a
  /// compressed one is one entry of that name without ".gz".
  explicit Archive(const std::filesystem::path& path);
  /// Opens the archive that is the current entry of `outer`, as a stream: until this one is
  /// destroyed, `outer` must not be touched.
  explicit Archive(Archive& outer);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Moves to the next regular file; false at the end of the archive.
  bool next();
  /// Place of the last entry passed over that is neither a file nor a directory but a link or a
  /// device; empty when there was none.
  const std::string& irregular() const;
  /// True when this is a single file, compressed or not, rather than a tar or zip.
  bool single() const;
  /// Name of the current entry, as stored; "outer.tar:inner.tar:name" is `place()`. The place of a
  /// single file is that of the file.
  const std::string& name() const;
  std::string place() const;
  /// Size that the archive states; 0 when it states none (a bare compressed file).
  std::uint64_t size() const;
  /// The whole entry where it lies in memory, without a copy: an entry of a plain tar, or a file,
  /// that is mapped, also inside one another. Valid as long as the outermost Archive. Nothing where
  /// it is compressed or in pieces, or has been read from.
  std::optional<formats::Bytes> view();
  /// Lets the memory of a view, or of everything, be used for something else. Views stay valid:
  /// what is touched comes again from the file. Bytes of something else are left alone.
  void give_back(formats::Bytes view);
  void give_back();
  /// Fills as much of `into` as the entry still has; returns the bytes filled.
  std::size_t read(formats::MutableBytes into);
  /// The rest of the entry. Fails when it is longer than `limit` (an archive bomb).
  void read_all(formats::Buffer& into, std::uint64_t limit);

 private:
  struct State;
  static std::unique_ptr<formats::ByteStream> entry_stream(Archive& outer);
  std::unique_ptr<State> state_;
};

/// True when the first bytes are those of an HTML page: what a server sends instead of the file.
bool looks_like_html(formats::Bytes start);

}  // namespace feedrate::converters
