#include "formats/containers/lmdb_pages.h"

#include <array>

#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::uint32_t meta_magic = 0xBEEFC0DE;
constexpr std::uint32_t data_version = 1;
constexpr std::size_t page_header = 16;
constexpr std::size_t node_header = 8;
constexpr std::size_t meta_size = page_header + 136;
constexpr std::uint32_t smallest_page = 512;
constexpr std::uint32_t largest_page = 65536;
constexpr unsigned deepest_tree = 32;  // liblmdb's own limit
constexpr std::uint64_t no_page = ~std::uint64_t{0};

enum PageFlags : std::uint16_t { branch_page = 0x01, leaf_page = 0x02, kind_of_page = 0x6f };
enum NodeFlags : std::uint16_t { big_value = 0x01 };

struct Meta {
  std::uint32_t page_size = 0;
  std::uint16_t tree_flags = 0;
  std::uint16_t depth = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = no_page;
  std::uint64_t transaction = 0;
};

// The meta page at `at`, or nothing when there is none.
std::optional<Meta> read_meta(Bytes file, std::size_t at) {
  if (file.size() < meta_size || at > file.size() - meta_size) return std::nullopt;
  const std::byte* body = file.data() + at + page_header;
  if (load_le<std::uint32_t>(body) != meta_magic) return std::nullopt;
  const auto version = load_le<std::uint32_t>(body + 4);
  if (version != data_version) {
    throw Error(join("LMDB data version ", version, ", expected ", data_version));
  }
  const std::byte* main_tree = body + 24 + 48;
  Meta meta;
  meta.page_size = load_le<std::uint32_t>(body + 24);
  meta.tree_flags = load_le<std::uint16_t>(main_tree + 4);
  meta.depth = load_le<std::uint16_t>(main_tree + 6);
  meta.entries = load_le<std::uint64_t>(main_tree + 32);
  meta.root = load_le<std::uint64_t>(main_tree + 40);
  meta.transaction = load_le<std::uint64_t>(body + 128);
  if (!std::has_single_bit(meta.page_size) || meta.page_size < smallest_page ||
      meta.page_size > largest_page) {
    throw Error(join("damaged meta page: pages of ", meta.page_size, " bytes"));
  }
  return meta;
}

Meta choose_meta(Bytes file, std::optional<std::uint64_t> transaction) {
  const std::optional<Meta> first = read_meta(file, 0);
  if (!first) throw Error("no LMDB file: the first page is no meta page");
  const std::optional<Meta> second = read_meta(file, first->page_size);
  if (!second) throw Error("damaged or truncated: the second page is no meta page");
  if (second->page_size != first->page_size) throw Error("the two meta pages disagree");
  const Meta& newest = second->transaction > first->transaction ? *second : *first;
  if (!transaction) return newest;
  // A pinned snapshot may be one behind the newest when a writer commits at this moment.
  if (first->transaction == *transaction) return *first;
  if (second->transaction == *transaction) return *second;
  throw Error("another process is writing to it at this moment; try again");
}

class Walk {
 public:
  Walk(Bytes file, const Meta& meta)
      : file_(file), meta_(meta), pages_(file.size() / meta.page_size) {}

  std::vector<LmdbEntry> run() {
    if (meta_.root == no_page) return {};
    if (meta_.tree_flags != 0) {
      throw Error(join("the database has flags ", meta_.tree_flags,
                       " (sorted duplicates or integer keys); Caffe's have none"));
    }
    if (meta_.depth == 0 || meta_.depth > deepest_tree) {
      throw Error(join("damaged meta page: a tree of depth ", meta_.depth));
    }
    // An entry takes at least its header and its offset; more than fit are damage.
    if (meta_.entries > file_.size() / (node_header + 2)) {
      throw Error(join("damaged meta page: states ", meta_.entries, " entries"));
    }
    entries_.reserve(static_cast<std::size_t>(meta_.entries));
    visit(meta_.root, meta_.depth);
    if (entries_.size() != meta_.entries) {
      throw Error(join("damaged: states ", meta_.entries, " entries, found ", entries_.size()));
    }
    return std::move(entries_);
  }

 private:
  // `levels` counts down to 1 at the leaves, which bounds the depth whatever the pages say.
  void visit(std::uint64_t number, unsigned levels) {
    const std::byte* page = page_at(number, 1);
    const bool leaf = levels == 1;
    const auto stored = load_le<std::uint64_t>(page);
    const auto flags = load_le<std::uint16_t>(page + 10);
    if (stored != number || (flags & kind_of_page) != (leaf ? leaf_page : branch_page)) {
      damaged(number, join("should be a ", leaf ? "leaf" : "branch", " of the tree"));
    }
    if (++visited_ > pages_) damaged(number, "is reached twice");
    const std::size_t lower = load_le<std::uint16_t>(page + 12);
    if (lower < page_header || lower > meta_.page_size || lower % 2 != 0) {
      damaged(number, "has a damaged header");
    }
    const std::size_t nodes = (lower - page_header) / 2;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t at = load_le<std::uint16_t>(page + page_header + 2 * i);
      if (at < lower || at + node_header > meta_.page_size) damaged(number, "has a damaged node");
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
    const std::size_t key = at + node_header;
    const std::size_t value = key + entry.key_size;
    const std::size_t stored = flags == big_value ? sizeof(std::uint64_t) : entry.value_size;
    if ((flags & ~big_value) != 0) damaged(number, "holds a nested database");
    if (value + stored > meta_.page_size) damaged(number, "has a node that leaves the page");
    const std::byte* from =
        flags == big_value ? large_value(page + value, entry.value_size) : page + value;
    entry.key = static_cast<std::uint64_t>(page + key - file_.data());
    entry.value = static_cast<std::uint64_t>(from - file_.data());
    if (entries_.size() == meta_.entries) damaged(number, "holds more entries than are stated");
    entries_.push_back(entry);
  }

  const std::byte* large_value(const std::byte* reference, std::uint32_t size) {
    const auto number = load_le<std::uint64_t>(reference);
    const std::uint64_t needed = (page_header + size + meta_.page_size - 1) / meta_.page_size;
    return page_at(number, needed) + page_header;
  }

  const std::byte* page_at(std::uint64_t number, std::uint64_t count) {
    if (number < 2) damaged(number, "is a meta page, and the tree points to it");
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
  const Meta& meta_;
  std::uint64_t pages_;
  std::uint64_t visited_ = 0;
  std::vector<LmdbEntry> entries_;
};

}  // namespace

bool is_lmdb(Bytes start) {
  return start.size() >= lmdb_start &&
         load_le<std::uint32_t>(start.data() + page_header) == meta_magic;
}

void check_lmdb_metas(Bytes file) { choose_meta(file, std::nullopt); }

std::vector<LmdbEntry> lmdb_entries(Bytes file, std::optional<std::uint64_t> transaction) {
  const Meta meta = choose_meta(file, transaction);
  return Walk(file, meta).run();
}

}  // namespace feedrate
