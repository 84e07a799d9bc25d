#pragma once
// Reads the tree of an LMDB file page by page, with every number checked before it is used as one:
// liblmdb trusts what it maps, and a damaged or truncated file crashes it. Linear in the leaf
// pages; the pages of large values are not touched.
//
//   page:  u64 number | u16 pad | u16 flags | u16 lower | u16 upper | u16 offset of each node …
//   large: u64 number | u16 pad | u16 flags | u32 pages | value …
//   leaf node:   u32 value size | u16 flags | u16 key size | key | value, or u64 number of its page
//   branch node: u48 child page                | u16 key size | key
//   meta:  page header | u32 magic | u32 version | u64 address | u64 map size |
//          2 × {u32 pad (of the first: page size) | u16 flags | u16 depth | u64 branch | u64 leaf |
//               u64 overflow | u64 entries | u64 root} | u64 last page | u64 transaction

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/bytes.h"

namespace feedrate {

/// Where one key and its value lie in the file.
struct LmdbEntry {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
};

/// True when the file starts with a meta page.
bool is_lmdb(Bytes start);
inline constexpr std::size_t lmdb_start = 24;  // bytes that is_lmdb wants to see

/// Throws Error when the two meta pages are not sound: liblmdb divides by what they say.
void check_lmdb_metas(Bytes file);

/// All entries of the unnamed database in key order, as of `transaction` (none: the newest). Throws
/// Error (without the file's name) on damage.
std::vector<LmdbEntry> lmdb_entries(Bytes file, std::optional<std::uint64_t> transaction);

}  // namespace feedrate
