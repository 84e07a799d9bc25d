#include "formats/containers/lmdb/lmdb_resume.h"

#include "formats/base/error.h"
#include "formats/containers/lmdb/datum.h"
#include "formats/containers/lmdb/lmdb_check.h"
#include "formats/containers/lmdb/lmdb_key.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {
namespace {

// Throws Error (without the file's name) unless every key is the number of its sample, all of the
// same width.
LmdbRemains check_keys(Bytes file, const LmdbMeta& meta, const std::vector<LmdbEntry>& entries,
                       std::uint64_t first, std::uint64_t samples) {
  LmdbRemains remains;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const LmdbEntry& entry = entries[i];
    const std::string_view key = as_text(file.subspan(entry.key, entry.key_size));
    const auto numbered = parse_lmdb_key(key);
    if (i == 0 && numbered) remains.digits = numbered->digits;
    if (!numbered || numbered->number != first + i || numbered->digits != remains.digits) {
      throw Error(join("entry ", i, " has the key '", key, "', not the one of sample ", first + i));
    }
    if (i + 1 == samples) {
      const Datum last = parse_datum(file.subspan(entry.value, entry.value_size));
      remains.red_first = !last.encoded && last.shape.channels == 3 && numbered->name.empty();
    }
    if (i < samples) continue;
    check_lmdb_large_value(file, meta, entry);  // it will be removed
    remains.surplus.emplace_back(key);
  }
  return remains;
}

}  // namespace

LmdbRemains look_at_lmdb_remains(const std::filesystem::path& data, std::uint64_t first,
                                 std::uint64_t samples) {
  if (samples == 0) {
    std::filesystem::remove(data);  // a file just created may hold anything
    return {};
  }
  const MappedFile file(data);
  try {
    const LmdbMeta meta = lmdb_meta(file.bytes(), std::nullopt);
    check_lmdb(file.bytes(), meta);
    const std::vector<LmdbEntry> entries = lmdb_entries(file.bytes(), meta);
    if (entries.size() < samples) {
      throw Error(join("holds ", entries.size(), " of the ", samples, " samples"));
    }
    return check_keys(file.bytes(), meta, entries, first, samples);
  } catch (const Error& error) {
    fail(data, "cannot resume this LMDB: ", error.what());
  }
}

}  // namespace feedrate::formats
