#pragma once
// Reads an archive entry by entry as a stream, through libarchive: tar (plain, gz, bz2, xz, zst),
// zip, a single compressed file (one entry), and a tar inside a tar without a temporary file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {
class ByteStream;
}

namespace feedrate::converters {

/// For one thread. Every failure (not an archive, truncated, bad checksum) is an Error that names
/// the file, the entry and the offset in the entry. An archive without its end marker is truncated,
/// even if it stops between two entries. A zip that is mapped has the entries of its directory, by
/// name and number.
class Archive {
 public:
  /// Opens a file. A file that is not an archive is a single entry with the file's name, without
  /// ".gz" if it is compressed.
  explicit Archive(const std::filesystem::path& path);
  /// Opens the archive that is the current entry of `outer`, as a stream. `outer` must not be used
  /// until this one is destroyed.
  explicit Archive(Archive& outer);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Moves to the next regular file; false at the end of the archive.
  bool next();
  /// The place() of the last entry skipped that is neither a file nor a directory, such as a link
  /// or a device; empty if there was none.
  const std::string& irregular() const;
  /// True when this is a single file, compressed or not, rather than a tar or zip.
  bool single() const;
  /// Name of the current entry, as stored.
  const std::string& name() const;
  /// The current entry for error messages: "outer.tar:inner.tar:name", or the path of a single
  /// file.
  std::string place() const;
  /// Size that the archive states; 0 if it states none (a bare compressed file).
  std::uint64_t size() const;
  /// The whole entry as a view of the mapped file, without a copy: for a file or an entry of an
  /// uncompressed tar, nested ones too. Valid as long as the outermost Archive. Nothing if the
  /// entry is compressed, is not contiguous, or has been read from.
  std::optional<formats::Bytes> view();
  /// Releases the memory behind a view, or behind the whole file. Views stay valid: pages that are
  /// touched again are read from the file again. Bytes outside the file are left alone.
  void give_back(formats::Bytes view);
  void give_back();
  /// Reads up to into.size() bytes of the entry; returns how many. 0 is its end.
  std::size_t read(formats::MutableBytes into);
  /// Reads the rest of the entry. Throws Error if it is longer than `limit` (an archive bomb).
  void read_all(formats::Buffer& into, std::uint64_t limit);
  /// The names of directories that have come since the last call, which next() passes by.
  std::vector<std::string> take_directories();

 private:
  struct State;
  static std::unique_ptr<formats::ByteStream> entry_stream(Archive& outer);
  std::unique_ptr<State> state_;
};

/// True if these are the first bytes of an HTML page, which servers send instead of a missing file.
bool looks_like_html(formats::Bytes start);

}  // namespace feedrate::converters
