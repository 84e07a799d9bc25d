#include "formats/containers/lmdb/lmdb_dialect.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/digests/digest.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t entries_asked = 3;  // of the first ones; they must agree
constexpr std::size_t bytes_shown = 8;

const LmdbDialect* dialect_of(Bytes value) {
  static const LmdbDialect* const all[] = {&lmdb_images_dialect, &lmdb_pickles_dialect,
                                           &lmdb_tensors_dialect, &lmdb_datum_dialect};
  const auto row = std::ranges::find_if(all, [&](const auto* each) { return each->knows(value); });
  return row == std::end(all) ? nullptr : *row;
}

[[noreturn]] void refuse(const LmdbItem& item, bool has_length) {
  const std::string start = hex(item.value.first(std::min(item.value.size(), bytes_shown)));
  throw Error(join(
      "the value of key '", item.key, "' (", item.value.size(), " bytes, ", start,
      item.value.size() > bytes_shown ? " …" : "", ") is ",
      has_length ? "no pickle: an older folder2lmdb wrote it by pyarrow or msgpack; write the LMDB "
                   "again with the current one, which pickles"
                 : "no Caffe Datum, Caffe2 TensorProtos, encoded image or pickle"));
}

}  // namespace

const LmdbDialect& find_lmdb_dialect(Bytes file, const std::vector<LmdbEntry>& entries) {
  const std::string_view last = lmdb_item(file, entries.back()).key;
  const bool has_length = last == "__len__" || last == "__keys__";
  const LmdbDialect* found = nullptr;
  for (std::size_t i = 0; i < std::min(entries.size(), entries_asked); ++i) {
    const LmdbItem item = lmdb_item(file, entries[i]);
    const LmdbDialect* dialect = dialect_of(item.value);
    if (dialect == nullptr) refuse(item, has_length);
    if (found != nullptr && dialect != found) {
      throw Error(join("the values of its first keys, up to '", item.key,
                       "', are of different kinds: not every one is a sample"));
    }
    found = dialect;
  }
  return *found;
}

}  // namespace feedrate::formats
