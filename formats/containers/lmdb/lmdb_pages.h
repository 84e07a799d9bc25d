#pragma once
// Reads the trees of an LMDB file page by page and checks every number before use: liblmdb trusts
// what it maps, and a damaged or truncated file crashes it. Linear in the leaf pages; the pages of
// large values are not read.
//
//   page:  u64 number | u16 pad | u16 flags | u16 lower | u16 upper | u16 offset of each node …
//   large: u64 number | u16 pad | u16 flags | u32 pages | value …
//   leaf node:   u32 value size | u16 flags | u16 key size | key | value, or u64 number of its page
//   branch node: u48 child page                | u16 key size | key

#include <cstdint>
#include <vector>

#include "formats/containers/lmdb/lmdb_meta.h"

namespace feedrate::formats {

/// Where one key and its value lie in the file.
struct LmdbEntry {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
};

/// All entries of the unnamed database in key order. Throws Error (without the file's name) on
/// damage.
std::vector<LmdbEntry> lmdb_entries(Bytes file, const LmdbMeta& meta);

/// All entries of the tree of free pages, likewise: the number of a transaction, and its list.
std::vector<LmdbEntry> lmdb_free_entries(Bytes file, const LmdbMeta& meta);

}  // namespace feedrate::formats
