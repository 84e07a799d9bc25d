#include "formats/containers/lmdb/lmdb_pages.h"

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr unsigned max_tree_depth = 32;  // liblmdb's own limit

constexpr std::uint16_t kind_of_page = 0x6f;  // of a page's flags, those that say what it holds
// The tree of free pages carries flags of the environment above these.
enum TreeFlags : std::uint16_t { plain_tree = 0x00, integer_keys = 0x08, kind_of_tree = 0x7f };

constexpr std::uint16_t named_database = 2;  // the kind of a node

class Walk {
 public:
  Walk(Bytes file, const LmdbMeta& meta, const LmdbTree& tree)
      : file_(file), meta_(meta), tree_(tree), pages_(file.size() / meta.page_size) {}

  std::vector<LmdbEntry> run(TreeFlags flags) {
    // Also for an empty tree: liblmdb would apply the flags to what it adds.
    if ((tree_.flags & kind_of_tree) != flags) {
      throw Error(join("the database has flags ", tree_.flags & kind_of_tree,
                       " (sorted duplicates or integer keys); Caffe's have none"));
    }
    if (tree_.root == LmdbTree::no_page) return {};
    if (tree_.depth == 0 || tree_.depth > max_tree_depth) {
      throw Error(join("damaged meta page: a tree of depth ", tree_.depth));
    }
    // An entry takes at least its header and its offset: a count that cannot fit is damage.
    if (tree_.entries > file_.size() / (lmdb_node_header + 2)) {
      throw Error(join("damaged meta page: states ", tree_.entries, " entries"));
    }
    entries_.reserve(static_cast<std::size_t>(tree_.entries));
    visit(tree_.root, tree_.depth);
    if (entries_.size() != tree_.entries) {
      throw Error(join("damaged: states ", tree_.entries, " entries, found ", entries_.size()));
    }
    return std::move(entries_);
  }

 private:
  // `levels` counts down to 1 at the leaves, so damaged pages cannot make the walk deeper.
  void visit(std::uint64_t number, unsigned levels) {
    const std::byte* page = page_at(number, 1);
    const bool leaf = levels == 1;
    const auto stored = load_le<std::uint64_t>(page);
    const auto flags = load_le<std::uint16_t>(page + 10);
    if (stored != number || (flags & kind_of_page) != (leaf ? lmdb_leaf_page : lmdb_branch_page)) {
      damaged(number, join("should be a ", leaf ? "leaf" : "branch", " of the tree"));
    }
    if (++visited_ > pages_) damaged(number, "is reached twice");
    const std::size_t lower = load_le<std::uint16_t>(page + 12);
    const std::size_t upper = load_le<std::uint16_t>(page + 14);
    if (lower < lmdb_page_header || lower > upper || upper > meta_.page_size || lower % 2 != 0) {
      damaged(number, "has a damaged header");
    }
    const std::size_t nodes = (lower - lmdb_page_header) / 2;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t at = load_le<std::uint16_t>(page + lmdb_page_header + 2 * i);
      if (at < upper || at + lmdb_node_header > meta_.page_size)
        damaged(number, "has a damaged node");
      if (leaf) {
        take(number, page, at);
      } else {
        visit(child(page + at), levels - 1);
      }
    }
  }

  static std::uint64_t child(const std::byte* node) {
    return load_le<std::uint64_t>(node) & 0xffff'ffff'ffffU;
  }

  void take(std::uint64_t number, const std::byte* page, std::size_t at) {
    const auto flags = load_le<std::uint16_t>(page + at + 4);
    LmdbEntry entry;
    entry.value_size = load_le<std::uint32_t>(page + at);
    entry.key_size = load_le<std::uint16_t>(page + at + 6);
    const std::size_t key = at + lmdb_node_header;
    const std::size_t value = key + entry.key_size;
    const std::size_t stored = flags == lmdb_large_value ? sizeof(std::uint64_t) : entry.value_size;
    if (flags == named_database && value <= meta_.page_size) {
      throw Error(join("holds named databases, such as '", as_text({page + key, entry.key_size}),
                       "', and Feedrate reads the main one alone; 'mdb_dump -s NAME', and "
                       "'mdb_load' into a new directory, make one of it"));
    }
    if ((flags & ~lmdb_large_value) != 0) damaged(number, "has a node of an unknown kind");
    if (value + stored > meta_.page_size) damaged(number, "has a node that leaves the page");
    const std::byte* from =
        flags == lmdb_large_value ? large_value(page + value, entry.value_size) : page + value;
    entry.key = static_cast<std::uint64_t>(page + key - file_.data());
    entry.value = static_cast<std::uint64_t>(from - file_.data());
    if (entries_.size() == tree_.entries) damaged(number, "holds more entries than are stated");
    entries_.push_back(entry);
  }

  const std::byte* large_value(const std::byte* reference, std::uint32_t size) {
    const auto number = load_le<std::uint64_t>(reference);
    const std::uint64_t needed = (lmdb_page_header + size + meta_.page_size - 1) / meta_.page_size;
    return page_at(number, needed) + lmdb_page_header;
  }

  const std::byte* page_at(std::uint64_t number, std::uint64_t count) {
    if (number < lmdb_meta_pages) damaged(number, "is a meta page, and the tree points to it");
    if (number >= pages_ || count > pages_ - number) {
      throw Error(join("damaged or truncated: page ", number, " lies beyond the end (",
                       file_.size(), " bytes, pages of ", meta_.page_size, ")"));
    }
    return file_.data() + number * meta_.page_size;
  }

  [[noreturn]] void damaged(std::uint64_t number, std::string_view how) const {
    throw Error(join("damaged: page ", number, " (byte ", number * meta_.page_size, ") ", how));
  }

  Bytes file_;
  const LmdbMeta& meta_;
  const LmdbTree& tree_;
  std::uint64_t pages_;
  std::uint64_t visited_ = 0;
  std::vector<LmdbEntry> entries_;
};

}  // namespace

std::vector<LmdbEntry> lmdb_entries(Bytes file, const LmdbMeta& meta) {
  return Walk(file, meta, meta.main).run(plain_tree);
}

std::vector<LmdbEntry> lmdb_free_entries(Bytes file, const LmdbMeta& meta) {
  return Walk(file, meta, meta.free_pages).run(integer_keys);
}

}  // namespace feedrate::formats
