#pragma once
// Walks over the headers of a tar in memory to find each member's data. Reads ustar (also the older
// V7 and GNU forms), GNU's long names and PAX; trusts no number in them.

#include <cstdint>
#include <string>

#include "formats/base/bytes.h"
#include "formats/io/late_bytes.h"

namespace feedrate::formats {

/// A member of a tar, with all of its headers combined.
struct TarEntry {
  std::string name;          // complete: prefix, GNU long name and PAX path are resolved
  char type = '0';           // '0' a file, '5' a directory, '1' and '2' links, …
  std::uint64_t header = 0;  // where the first of its headers starts
  std::uint64_t offset = 0;  // where its data start; a file's data lie within the tar
  std::uint64_t size = 0;    // of its data; 0 for members without any

  bool is_file() const { return type == '0'; }
};

/// One thread; several walks may share the same bytes, which must outlive them. Throws Error that
/// names the byte, not the file, for damaged and missing headers, data beyond the end, a tar
/// without its end marker, sparse files and multi-volume archives.
class TarWalk {
 public:
  /// Starts at `start`, where a member's first header is. Where bytes come late, the caller holds those in
  /// `known`; the walk waits for any others that it needs.
  explicit TarWalk(Bytes tar, std::uint64_t start = 0, Bytes known = {})
      : tar_(tar), window_(tar, known), position_(start) {}

  /// The next member; false at the end marker. `entry` keeps its capacity.
  bool next(TarEntry& entry);
  /// Where the next member's headers start; after the end, the first byte after the end marker.
  std::uint64_t position() const { return position_; }

 private:
  struct Extensions;

  bool end_marker_at(std::uint64_t at);
  const std::byte* header_at(std::uint64_t at) const;
  bool read_extension(const std::byte* header, std::uint64_t size, Extensions& extensions);
  Bytes extension_data(std::uint64_t at, std::uint64_t size);
  void read_pax(Bytes content, char type, Extensions& extensions) const;
  void check(const TarEntry& entry) const;

  Bytes tar_;
  HeldWindow window_;
  std::uint64_t position_ = 0;
};

}  // namespace feedrate::formats
