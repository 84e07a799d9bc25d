#pragma once
// libarchive's reader over a ByteStream, with its codes turned into Errors. Only Archive and the
// decompressing streams use it.

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "formats/io/byte_stream.h"

struct archive;
struct archive_entry;

namespace feedrate::formats {

/// One thread. `source` must outlive it.
class ArchiveHandle {
 public:
  enum class Reads : std::uint8_t {
    filters,   // decompresses bzip2, xz and zstd; the content is one entry
    archives,  // uncompressed tar and zip; anything else is one entry
  };
  ArchiveHandle(ByteStream& source, Reads reads);
  ~ArchiveHandle();
  ArchiveHandle(const ArchiveHandle&) = delete;
  ArchiveHandle& operator=(const ArchiveHandle&) = delete;

  /// Moves to the next entry; false at the end and on failure (then `failed`).
  bool next_header();
  bool failed() const { return failed_; }
  archive_entry* entry() const { return entry_; }
  /// The entry's name as it is stored, but that a zip's accents are composed with their letters; empty
  /// where it cannot be told.
  std::string name() const;

  bool filtered() const;  // what is read is decompressed; known likewise
  bool is_zip() const;  // known once the first header was read
  bool single() const;  // not an archive: the whole stream is one entry
  /// True when the archive marks the end just reached; false when the bytes ran out.
  bool end_is_marked() const;

  /// Bytes of the source that libarchive has consumed.
  std::uint64_t consumed() const;
  /// True when the entry's bytes are contiguous in the source and stored as they are.
  bool contiguous() const;

  /// The next block of the entry, empty at its end; nothing on failure.
  std::optional<Bytes> next_block();
  /// Reads as much as the entry still has, up to the size of `into`; nothing on failure. Where the
  /// entry alone is damaged (a wrong CRC, a passphrase), the next entry can be read.
  std::optional<std::size_t> read(MutableBytes into);

  /// Throws the Error that `source` threw, if it did, else one with libarchive's text.
  [[noreturn]] void fail(const std::string& place, const std::string& what);

 private:
  static long on_read(archive*, void* self, const void** block);
  static std::int64_t on_skip(archive*, void* self, std::int64_t count);
  static std::int64_t on_seek(archive*, void* self, std::int64_t offset, int whence);
  bool is_tar() const;
  template <class Action>
  std::int64_t guarded(Action action) noexcept;

  ByteStream& source_;
  std::size_t max_at_once_ = std::numeric_limits<std::size_t>::max();
  archive* handle_;
  archive_entry* entry_ = nullptr;
  std::exception_ptr thrown_;  // exceptions must not cross libarchive's C frames
  bool failed_ = false;
  const bool may_be_zip_;
};

}  // namespace feedrate::formats
