#pragma once
// Checks of an LMDB file beyond what reading it needs: everything that liblmdb relies on when it
// goes on writing, which it does without a look. Linear in the pages of the trees; large values are
// not touched. Throws Error (without the file's name) on damage.

#include "formats/containers/lmdb/lmdb_pages.h"

namespace feedrate::formats {

/// In both trees nodes fill their pages without gap or overlap, keys are in order, no page has two
/// uses, and the free ones are free.
void check_lmdb(Bytes file, const LmdbMeta& meta);

/// Checks the header of the pages of a large value, which liblmdb reads to remove it. Other values
/// pass.
void check_lmdb_large_value(Bytes file, const LmdbMeta& meta, const LmdbEntry& entry);

}  // namespace feedrate::formats
