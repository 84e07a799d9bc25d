#pragma once
// The directory at the end of a zip, which lists its entries. libarchive takes each name from the head of
// the entry instead: without this check, a damaged name there leaves an image out, and nobody notices a
// directory that was cut off.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::converters {

/// For one thread. Errors name the file, the entry, the byte, what was expected and what was found.
/// Format: PKWARE's APPNOTE 6.3, with ZIP64; a zip in one file, which other bytes may precede.
class ZipDirectory {
 public:
  /// `zip` holds the bytes of the whole file and must outlive this; `place` names the file in errors. Throws Error when the
  /// directory is missing, cut off or holds another number of entries than its end states.
  ZipDirectory(formats::Bytes zip, std::string place);

  /// Checks the head of the next entry, in the order in which they lie in the file: its name must be
  /// the directory's. Throws Error for an entry that the directory does not have.
  void check_next();
  /// At the end of the zip: throws Error if the directory has entries that check_next() has not met.
  void check_end() const;

 private:
  struct Entry {
    std::uint64_t head = 0;      // byte of its local header
    std::uint64_t recorded = 0;  // byte of its record in the directory
  };
  struct End {
    std::uint64_t at = 0;  // where the directory has to end
    std::uint64_t entries = 0;
    std::uint64_t size = 0;
    std::uint64_t start = 0;  // as stated, from the zip's first byte
    bool is64 = false;
  };

  template <class T>
  T number(std::uint64_t at) const;
  bool is_marked(std::uint64_t at, std::string_view mark) const;
  End find_end() const;
  End find_end64(const End& end) const;
  void read_entries(const End& end, std::uint64_t start);
  std::uint64_t stated_head(std::uint64_t record) const;
  std::string_view name(std::uint64_t at, std::uint64_t length) const;

  formats::Bytes zip_;
  std::string place_;
  std::vector<Entry> entries_;  // by head
  std::size_t checked_ = 0;
};

}  // namespace feedrate::converters
