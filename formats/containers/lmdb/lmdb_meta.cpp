#include "formats/containers/lmdb/lmdb_meta.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {
namespace {

constexpr std::uint32_t meta_magic = 0xBEEFC0DE;
constexpr std::uint32_t data_version = 1;
constexpr std::size_t map_size_at = lmdb_page_header + 16;
constexpr std::size_t trees_at = lmdb_page_header + 24;
constexpr std::size_t tree_size = 48;
constexpr std::size_t meta_size = trees_at + 2 * tree_size + 16;
constexpr std::uint32_t min_page_size = 512;
constexpr std::uint32_t max_page_size = 65536;

LmdbTree read_tree(const std::byte* at) {
  LmdbTree tree;
  tree.flags = load_le<std::uint16_t>(at + 4);
  tree.depth = load_le<std::uint16_t>(at + 6);
  tree.entries = load_le<std::uint64_t>(at + 32);
  tree.root = load_le<std::uint64_t>(at + 40);
  return tree;
}

// The meta page at byte `at`; nothing if there is none.
std::optional<LmdbMeta> read_meta(Bytes file, std::size_t at) {
  if (file.size() < meta_size || at > file.size() - meta_size) return std::nullopt;
  const std::byte* page = file.data() + at;
  if (load_le<std::uint32_t>(page + lmdb_page_header) != meta_magic) return std::nullopt;
  const auto version = load_le<std::uint32_t>(page + lmdb_page_header + 4);
  if (version != data_version) {
    throw Error(join("LMDB data version ", version, ", expected ", data_version));
  }
  LmdbMeta meta;
  meta.page_size = load_le<std::uint32_t>(page + trees_at);
  meta.free_pages = read_tree(page + trees_at);
  meta.main = read_tree(page + trees_at + tree_size);
  meta.last_page = load_le<std::uint64_t>(page + trees_at + 2 * tree_size);
  meta.transaction = load_le<std::uint64_t>(page + trees_at + 2 * tree_size + 8);
  if (!std::has_single_bit(meta.page_size) || meta.page_size < min_page_size ||
      meta.page_size > max_page_size) {
    throw Error(join("damaged meta page: pages of ", meta.page_size, " bytes"));
  }
  return meta;
}

}  // namespace

bool is_lmdb(Bytes start) {
  return start.size() >= lmdb_start &&
         load_le<std::uint32_t>(start.data() + lmdb_page_header) == meta_magic;
}

LmdbMeta lmdb_meta(Bytes file, std::optional<std::uint64_t> transaction) {
  const std::optional<LmdbMeta> first = read_meta(file, 0);
  if (!first) throw Error("not an LMDB file: the first page is not a meta page");
  const std::optional<LmdbMeta> second = read_meta(file, first->page_size);
  if (!second) throw Error("damaged or truncated: the second page is not a meta page");
  if (second->page_size != first->page_size) throw Error("the two meta pages disagree");
  const LmdbMeta& newest = second->transaction > first->transaction ? *second : *first;
  if (!transaction) return newest;
  // If a writer has just committed, our snapshot is one behind the newest.
  if (first->transaction == *transaction) return *first;
  if (second->transaction == *transaction) return *second;
  throw Error("another process is writing to it at this moment; try again");
}

void write_lmdb_map_size(const std::filesystem::path& data, std::uint64_t bytes) {
  const Descriptor file(::open(data.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) fail_errno(data, "cannot open", errno);
  std::uint64_t second = 0;
  {
    const MappedFile map(data);
    second = lmdb_meta(map.bytes(), std::nullopt).page_size;
  }
  for (const std::uint64_t meta : {std::uint64_t{0}, second}) {
    const auto at = static_cast<off_t>(meta + map_size_at);
    if (pwrite(file.number(), &bytes, sizeof bytes, at) != sizeof bytes) {
      fail_errno(data, "cannot write", errno);
    }
  }
}

}  // namespace feedrate::formats
