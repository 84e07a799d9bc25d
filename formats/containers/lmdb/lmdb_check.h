#pragma once
// Checks of an LMDB file beyond what reading needs: everything that liblmdb relies on, unchecked,
// when it continues writing the file. Linear in the pages of the trees; large values are not read.
// Throws Error (without the file's name) on damage.

#include "formats/containers/lmdb/lmdb_pages.h"

namespace feedrate::formats {

/// Checks that in both trees nodes have no gaps or overlaps and keys are in order, and that no page
/// is used twice, or is both free and used.
void check_lmdb(Bytes file, const LmdbMeta& meta);

/// Checks the header of a large value's pages, which liblmdb reads when it removes the value. Other
/// values pass.
void check_lmdb_large_value(Bytes file, const LmdbMeta& meta, const LmdbEntry& entry);

}  // namespace feedrate::formats
