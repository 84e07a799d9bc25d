#include "formats/containers/lmdb/lmdb_check.h"

#include <algorithm>
#include <string_view>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

// Pages at the end may never have been written: one transaction allocated and freed them. liblmdb
// holds no more of them at a time.
constexpr std::uint64_t max_unwritten_pages = 1 << 17;

// The pages in use, one bit each, to find pages that are used twice.
class PageUse {
 public:
  PageUse(Bytes file, const LmdbMeta& meta) : page_size_(meta.page_size) {
    const std::uint64_t pages = file.size() / meta.page_size;
    if (meta.last_page < lmdb_meta_pages - 1 || meta.last_page > pages + max_unwritten_pages) {
      throw Error(
          join("damaged or truncated: states ", meta.last_page + 1, " pages, found ", pages));
    }
    used_.resize(meta.last_page + 1);
    take(0, lmdb_meta_pages);
  }

  void take(std::uint64_t number, std::uint64_t count) {
    if (number >= used_.size() || count > used_.size() - number) {
      throw Error(join("damaged: page ", number, " lies beyond the last one, ", used_.size() - 1));
    }
    for (std::uint64_t i = number; i < number + count; ++i) {
      if (used_[i]) {
        throw Error(join("damaged: page ", i, " (byte ", i * page_size_, ") has two uses"));
      }
      used_[i] = true;
    }
  }

 private:
  std::uint64_t page_size_;
  std::vector<bool> used_;
};

std::uint64_t pages_of(std::uint64_t value_size, const LmdbMeta& meta) {
  return (lmdb_page_header + value_size + meta.page_size - 1) / meta.page_size;
}

// Checks a tree that was walked before: no offset in it leaves its page or the file.
class TreeCheck {
 public:
  // The order of keys: as bytes or as numbers.
  using Less = bool (*)(std::string_view, std::string_view);

  TreeCheck(Bytes file, const LmdbMeta& meta, PageUse& use, Less less)
      : file_(file), meta_(meta), use_(use), less_(less) {}

  void run(const LmdbTree& tree) {
    if (tree.root != LmdbTree::no_page) return visit(tree.root, tree.depth, nullptr, nullptr);
    // liblmdb would go on counting from these numbers, and state a deeper tree than it writes.
    if (tree.depth == 0 && tree.entries == 0) return;
    throw Error(join("damaged meta page: an empty tree of depth ", tree.depth, " with ",
                     tree.entries, " entries"));
  }

 private:
  struct Node {
    std::size_t at = 0;
    std::size_t size = 0;  // in the page
    std::string_view key;
  };

  // Keys below this page must be in [low, high); null is no bound.
  void visit(std::uint64_t number, unsigned levels, const std::string_view* low,
             const std::string_view* high) {
    use_.take(number, 1);
    const bool leaf = levels == 1;
    // Any other flag (dirty, loose) would make liblmdb write into its read-only map.
    const auto flags = load_le<std::uint16_t>(page(number) + 10);
    if (flags != (leaf ? lmdb_leaf_page : lmdb_branch_page))
      damaged(number, join("has flags ", flags));
    const std::vector<Node> nodes = nodes_of(number, leaf);
    if (nodes.empty()) damaged(number, "is empty");
    check_tiling(number, nodes);
    for (std::size_t i = leaf ? 0 : 1; i < nodes.size(); ++i) {
      const std::string_view* before = i > (leaf ? 0 : 1) ? &nodes[i - 1].key : nullptr;
      const bool rises = before == nullptr || less_(*before, nodes[i].key);
      const bool inside = (low == nullptr || !less_(nodes[i].key, *low)) &&
                          (high == nullptr || less_(nodes[i].key, *high));
      if (!rises || !inside) damaged(number, join("has its key ", i, " out of order"));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::byte* node = page(number) + nodes[i].at;
      if (leaf) {
        take_large_value(node, nodes[i].key);
        continue;
      }
      visit(load_le<std::uint64_t>(node) & 0xffff'ffff'ffffU, levels - 1,
            i == 0 ? low : &nodes[i].key, i + 1 == nodes.size() ? high : &nodes[i + 1].key);
    }
  }

  std::vector<Node> nodes_of(std::uint64_t number, bool leaf) const {
    const std::byte* from = page(number);
    const std::size_t lower = load_le<std::uint16_t>(from + 12);
    std::vector<Node> nodes((lower - lmdb_page_header) / 2);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t at = load_le<std::uint16_t>(from + lmdb_page_header + 2 * i);
      const std::size_t key_size = load_le<std::uint16_t>(from + at + 6);
      const bool big = load_le<std::uint16_t>(from + at + 4) == lmdb_large_value;
      const std::size_t value = !leaf ? 0 : big ? 8 : load_le<std::uint32_t>(from + at);
      const std::size_t size = (lmdb_node_header + key_size + value + 1) & ~std::size_t{1};
      if (size > meta_.page_size - at) damaged(number, "has a node that leaves the page");
      nodes[i] = {
          at, size, {reinterpret_cast<const char*>(from + at + lmdb_node_header), key_size}};
    }
    return nodes;
  }

  // liblmdb keeps the nodes of a page together at its end.
  void check_tiling(std::uint64_t number, const std::vector<Node>& nodes) {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const Node& node : nodes) places.emplace_back(node.at, node.size);
    std::sort(places.begin(), places.end());
    std::size_t end = load_le<std::uint16_t>(page(number) + 14);
    for (const auto& [at, size] : places) {
      if (at != end) damaged(number, join("has a gap or an overlap at its byte ", end));
      end = at + size;
    }
    if (end != meta_.page_size) damaged(number, join("has nodes only up to its byte ", end));
  }

  void take_large_value(const std::byte* node, std::string_view key) {
    if (load_le<std::uint16_t>(node + 4) != lmdb_large_value) return;
    const auto number = load_le<std::uint64_t>(node + lmdb_node_header + key.size());
    use_.take(number, pages_of(load_le<std::uint32_t>(node), meta_));
  }

  const std::byte* page(std::uint64_t number) const {
    return file_.data() + number * meta_.page_size;
  }

  [[noreturn]] void damaged(std::uint64_t number, std::string_view how) const {
    throw Error(join("damaged: page ", number, " (byte ", number * meta_.page_size, ") ", how));
  }

  Bytes file_;
  const LmdbMeta& meta_;
  PageUse& use_;
  Less less_;
};

// A record of free pages: their count, then their numbers, the largest first.
void take_free_pages(Bytes record, PageUse& use) {
  std::uint64_t count = 0;
  if (record.size() >= sizeof count) count = load_le<std::uint64_t>(record.data());
  if (record.size() < sizeof count || count > record.size() / sizeof count - 1) {
    throw Error(join("damaged: ", record.size(), " bytes state ", count, " free pages"));
  }
  std::uint64_t before = LmdbTree::no_page;
  for (std::uint64_t i = 1; i <= count; ++i) {
    const auto number = load_le<std::uint64_t>(record.data() + i * sizeof count);
    if (number >= before) throw Error(join("damaged: free page ", number, " is out of order"));
    use.take(number, 1);
    before = number;
  }
}

std::uint64_t number_in(std::string_view key) {
  if (key.size() != sizeof(std::uint64_t)) {
    throw Error(join("damaged: a transaction number of ", key.size(), " bytes"));
  }
  return load_le<std::uint64_t>(as_bytes(key).data());
}

bool less_as_bytes(std::string_view a, std::string_view b) { return a < b; }
bool less_as_numbers(std::string_view a, std::string_view b) { return number_in(a) < number_in(b); }

}  // namespace

void check_lmdb(Bytes file, const LmdbMeta& meta) {
  PageUse use(file, meta);
  lmdb_entries(file, meta);
  TreeCheck(file, meta, use, less_as_bytes).run(meta.main);
  const std::vector<LmdbEntry> lists = lmdb_free_entries(file, meta);
  TreeCheck(file, meta, use, less_as_numbers).run(meta.free_pages);
  for (const LmdbEntry& list : lists) {
    const std::uint64_t freed = number_in(as_text(file.subspan(list.key, list.key_size)));
    if (freed > meta.transaction) {
      throw Error(join("damaged: pages were freed by transaction ", freed, ", but the last one is ",
                       meta.transaction));
    }
    take_free_pages(file.subspan(list.value, list.value_size), use);
  }
}

void check_lmdb_large_value(Bytes file, const LmdbMeta& meta, const LmdbEntry& entry) {
  // Large values start right after the page's header; values in a leaf start later.
  if (entry.value % meta.page_size != lmdb_page_header) return;
  const std::uint64_t number = entry.value / meta.page_size;
  const std::byte* page = file.data() + number * meta.page_size;
  if (load_le<std::uint64_t>(page) != number ||
      load_le<std::uint16_t>(page + 10) != lmdb_large_page ||
      load_le<std::uint32_t>(page + 12) != pages_of(entry.value_size, meta)) {
    throw Error(join("damaged: page ", number, " (byte ", number * meta.page_size,
                     ") should start a value of ", entry.value_size, " bytes"));
  }
}

}  // namespace feedrate::formats
