// The trees of an LMDB file. Seeds have pages of 512 bytes, the smallest that are read, so that
// most bytes of an input have a meaning. liblmdb itself then reads and writes the files that pass
// our check of everything it relies on.

#include <algorithm>
#include <string>

#include "formats/containers/lmdb/lmdb_check.h"
#include "formats/containers/lmdb/lmdb_store.h"
#include "formats/io/mapped_file.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::size_t page_bytes = 512;
constexpr std::size_t page_header = 16;

template <class T>
void store(Buffer& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

struct Tree {
  std::uint16_t depth = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = ~std::uint64_t{0};
};

void put_meta(Buffer& file, std::uint64_t page, std::uint64_t transaction, const Tree& tree) {
  const std::size_t body = page * page_bytes + page_header;
  store(file, page * page_bytes, page);
  store(file, page * page_bytes + 10, std::uint16_t{8});
  store(file, body, std::uint32_t{0xBEEFC0DE});
  store(file, body + 4, std::uint32_t{1});
  store(file, body + 16, std::uint64_t{1} << 20);
  store(file, body + 24, std::uint32_t{page_bytes});
  store(file, body + 28,
        std::uint16_t{8});  // MDB_INTEGERKEY: the list of free pages, which is empty
  store(file, body + 64, ~std::uint64_t{0});
  const std::size_t main_tree = body + 24 + 48;
  store(file, main_tree + 6, tree.depth);
  store(file, main_tree + 32, tree.entries);
  store(file, main_tree + 40, tree.root);
  store(file, body + 120, std::uint64_t{file.size() / page_bytes - 1});
  store(file, body + 128, transaction);
}

// Puts nodes on a page, from its end towards the offsets at its start.
class Page {
 public:
  Page(Buffer& file, std::uint64_t number, std::uint16_t flags)
      : file_(file), start_(number * page_bytes) {
    store(file_, start_, number);
    store(file_, start_ + 10, flags);
    store_bounds();
  }

  void add(std::uint32_t first, std::uint16_t flags, std::string_view key, Bytes value) {
    upper_ = (upper_ - 8 - key.size() - value.size()) & ~std::size_t{1};
    const std::size_t node = start_ + upper_;
    store(file_, node, first);
    store(file_, node + 4, flags);
    store(file_, node + 6, static_cast<std::uint16_t>(key.size()));
    std::byte* at = std::ranges::copy(as_bytes(key), file_.data() + node + 8).out;
    std::ranges::copy(value, at);
    store(file_, start_ + lower_, static_cast<std::uint16_t>(upper_));
    lower_ += 2;
    store_bounds();
  }

 private:
  void store_bounds() {
    store(file_, start_ + 12, static_cast<std::uint16_t>(lower_));
    store(file_, start_ + 14, static_cast<std::uint16_t>(upper_));
  }

  Buffer& file_;
  std::size_t start_;
  std::size_t lower_ = page_header, upper_ = page_bytes;
};

void put_value(Page& page, std::string_view key, std::string_view value) {
  page.add(static_cast<std::uint32_t>(value.size()), 0, key, as_bytes(value));
}

Buffer empty_file() {
  Buffer file(2 * page_bytes);
  put_meta(file, 0, 0, {});
  put_meta(file, 1, 1, {});
  return file;
}

// A branch page above two leaves, and a value on overflow pages.
Buffer deep_file() {
  Buffer file(7 * page_bytes);
  put_meta(file, 0, 0, {});
  put_meta(file, 1, 1, {2, 3, 2});
  Page root(file, 2, 0x01);
  root.add(3, 0, "", {});
  root.add(4, 0, "00000001", {});
  Page left(file, 3, 0x02), right(file, 4, 0x02);
  put_value(left, "00000000", "\x22\x01x\x28\x03");
  put_value(right, "00000001", "");
  const std::uint64_t large_page = 5;
  right.add(700, 0x01, "00000002", std::as_bytes(std::span(&large_page, 1)));
  store(file, 5 * page_bytes, large_page);
  store(file, 5 * page_bytes + 10, std::uint16_t{4});
  store(file, 5 * page_bytes + 12, std::uint32_t{2});
  return file;
}

void check_entries(Bytes file, const std::vector<LmdbEntry>& entries) {
  const auto lies_inside = [&](std::uint64_t at, std::uint64_t count) {
    return at <= file.size() && count <= file.size() - at;
  };
  for (const LmdbEntry& entry : entries) {
    require(lies_inside(entry.key, entry.key_size), "a key lies inside the file");
    require(lies_inside(entry.value, entry.value_size), "a value lies inside the file");
  }
}

using Keys = std::vector<std::string>;

Keys keys_of(Bytes file, const std::vector<LmdbEntry>& entries) {
  Keys keys;
  for (const LmdbEntry& entry : entries) {
    keys.emplace_back(as_text(file.subspan(entry.key, entry.key_size)));
  }
  return keys;
}

// Does what a resumed conversion does: removes entries and puts others in their place.
void check_going_on(Bytes file, const LmdbMeta& meta, const std::vector<LmdbEntry>& entries) {
  constexpr std::string_view added = "\xff\xff\xff added";
  Keys expected = keys_of(file, entries);
  const auto path = file_of(file, "data.mdb");
  const bool went_on = accepts([&] {
    LmdbStore store(path);
    if (!entries.empty()) {
      check_lmdb_large_value(file, meta, entries.front());
      store.remove(expected.front());
    }
    const MutableBytes value = store.put(added, 600);
    std::fill(value.begin(), value.end(), std::byte{7});
    store.close();
  });
  if (!went_on) return;
  if (!entries.empty()) expected.erase(expected.begin());
  expected.emplace_back(added);
  std::sort(expected.begin(), expected.end());
  const MappedFile written(path);
  const LmdbMeta after = lmdb_meta(written.bytes(), std::nullopt);
  check_lmdb(written.bytes(), after);
  require(keys_of(written.bytes(), lmdb_entries(written.bytes(), after)) == expected,
          "an LMDB that is sound enough to go on with holds what was there and what was added");
}

}  // namespace

std::vector<Buffer> seeds() {
  Buffer flat(3 * page_bytes);
  put_meta(flat, 0, 2, {1, 2, 2});
  put_meta(flat, 1, 1, {});
  Page leaf(flat, 2, 0x02);
  put_value(leaf, "a", "1");
  put_value(leaf, "b", "22");
  return {empty_file(), flat, deep_file()};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes file = fenced(data, size);
  LmdbMeta meta;
  if (!accepts([&] { meta = lmdb_meta(file, std::nullopt); })) return 0;
  require(is_lmdb(file), "a file that can be read is known by its first page");
  std::vector<LmdbEntry> entries;
  accepts([&] { check_entries(file, lmdb_free_entries(file, meta)); });
  if (!accepts([&] { entries = lmdb_entries(file, meta); })) return 0;
  check_entries(file, entries);
  if (accepts([&] { check_lmdb(file, meta); })) check_going_on(file, meta, entries);
  return 0;
}
