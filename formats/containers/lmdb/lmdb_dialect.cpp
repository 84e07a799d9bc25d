#include "formats/containers/lmdb/lmdb_dialect.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/digests/digest.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t entries_asked = 3;  // of the first ones; they must agree
constexpr std::size_t bytes_shown = 8;

const LmdbDialect* dialect_of(Bytes value) {
  static const LmdbDialect* const all[] = {&lmdb_images_dialect, &lmdb_datum_dialect};
  const auto row = std::ranges::find_if(all, [&](const auto* each) { return each->knows(value); });
  return row == std::end(all) ? nullptr : *row;
}

// What the values of other tools look like; empty when the first bytes do not tell.
std::string_view guess(std::string_view value) {
  if (value.starts_with('\x0a')) return "Caffe2's TensorProtos or an AnnotatedDatum of SSD's Caffe";
  const bool pickle = value.size() > 1 && value[0] == '\x80' && value[1] >= 2 && value[1] <= 5;
  return pickle ? "a pickle, as folder2lmdb writes" : "";
}

[[noreturn]] void refuse(const LmdbItem& item) {
  const std::string start = hex(item.value.first(std::min(item.value.size(), bytes_shown)));
  const std::string_view likely = guess(as_text(item.value));
  throw Error(
      join("the value of key '", item.key, "' (", item.value.size(), " bytes, ", start,
           item.value.size() > bytes_shown ? " …" : "",
           ") is neither a Caffe Datum nor an encoded image, the values that Feedrate reads",
           likely.empty() ? "" : "; it looks like ", likely));
}

}  // namespace

const LmdbDialect& find_lmdb_dialect(Bytes file, const std::vector<LmdbEntry>& entries) {
  const LmdbDialect* found = nullptr;
  for (std::size_t i = 0; i < std::min(entries.size(), entries_asked); ++i) {
    const LmdbItem item = lmdb_item(file, entries[i]);
    const LmdbDialect* dialect = dialect_of(item.value);
    if (dialect == nullptr) refuse(item);
    if (found != nullptr && dialect != found) {
      throw Error(join("the values of its first keys, up to '", item.key,
                       "', are of different kinds: not every one is a sample"));
    }
    found = dialect;
  }
  return *found;
}

}  // namespace feedrate::formats
