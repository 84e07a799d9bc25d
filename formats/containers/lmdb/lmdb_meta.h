#pragma once
// The two meta pages at the start of an LMDB file, which say where the newest trees begin.
// Stateless; throws Error (without the file's name) on damage.
//
//   meta:  page header | u32 magic | u32 version | u64 address | u64 map size |
//          2 × {u32 pad (of the first: page size) | u16 flags | u16 depth | u64 branch | u64 leaf |
//               u64 overflow | u64 entries | u64 root} | u64 last page | u64 transaction

#include <cstdint>
#include <filesystem>
#include <optional>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// The root of one of the two trees: free pages or the unnamed database.
struct LmdbTree {
  static constexpr std::uint64_t no_page = ~std::uint64_t{0};

  std::uint16_t flags = 0;
  std::uint16_t depth = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = no_page;
};

struct LmdbMeta {
  std::uint32_t page_size = 0;
  LmdbTree free_pages;
  LmdbTree main;
  std::uint64_t last_page = 0;
  std::uint64_t transaction = 0;
};

/// Bytes of the header of a page; a large value has one too.
inline constexpr std::size_t lmdb_page_header = 16;
inline constexpr std::size_t lmdb_node_header = 8;
inline constexpr std::uint64_t lmdb_meta_pages = 2;
enum LmdbPageFlags : std::uint16_t {
  lmdb_branch_page = 0x01,
  lmdb_leaf_page = 0x02,
  lmdb_large_page = 0x04,
};
inline constexpr std::uint16_t lmdb_large_value = 0x01;  // flag of a node whose value has own pages

/// True if the file starts with a meta page.
bool is_lmdb(Bytes start);
inline constexpr std::size_t lmdb_start = 24;  // bytes that is_lmdb() needs

/// The meta page of `transaction` (nothing: the newest). Checks both pages: liblmdb divides by
/// their page size.
LmdbMeta lmdb_meta(Bytes file, std::optional<std::uint64_t> transaction);

/// Writes `bytes` as the map size of a closed environment, which its readers will use.
void write_lmdb_map_size(const std::filesystem::path& data, std::uint64_t bytes);

}  // namespace feedrate::formats
