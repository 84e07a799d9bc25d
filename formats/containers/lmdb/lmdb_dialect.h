#pragma once
// What tools keep in an LMDB: Datums, or images as they are. The first bytes of a value tell which;
// a dialect reads them. Stateless, any thread. One file each, and a line in lmdb_dialect.cpp.
//
//   dialect   a value begins with                          keys                  written by
//   datum     08 10 18 22 28 35 (Datum's fields)           %08d %05d %08d_path   Caffe
//   images    ff d8, 89 PNG … (an image's signature)       names                 LSUN, BasicSR

#include <string_view>
#include <vector>

#include "formats/containers/lmdb/lmdb_pages.h"
#include "formats/dataset.h"

namespace feedrate::formats {

/// One entry, seen in the file.
struct LmdbItem {
  std::string_view key;
  Bytes value;
};

inline LmdbItem lmdb_item(Bytes file, const LmdbEntry& entry) {
  return {as_text(file.subspan(entry.key, entry.key_size)),
          file.subspan(entry.value, entry.value_size)};
}

class LmdbDialect {
 public:
  virtual ~LmdbDialect() = default;

  /// True when a value that starts like this one can be of no other dialect.
  virtual bool knows(Bytes value) const = 0;
  /// The sample in an entry. An encoded image may come without codec and shape: the caller asks the
  /// codecs. Throws Error (without a place) on damage.
  virtual Sample read(const LmdbItem& item) const = 0;
};

/// The dialect of the database whose entries these are (one at least). Throws Error (without the
/// file's name) that names what is not understood.
const LmdbDialect& find_lmdb_dialect(Bytes file, const std::vector<LmdbEntry>& entries);

// The rows.
extern const LmdbDialect& lmdb_datum_dialect;
extern const LmdbDialect& lmdb_images_dialect;

}  // namespace feedrate::formats
