#pragma once
// index.json of Mosaic's streaming datasets: the shards, and the columns of their samples.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::formats {

inline constexpr std::string_view mds_index_name = "index.json";

struct MdsColumn {
  std::string name;
  std::string encoding;               // "jpeg", "int", "str" …
  std::optional<std::uint32_t> size;  // of each value, where they have one
};

struct MdsShard {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  std::vector<MdsColumn> columns;
  std::filesystem::path packed;  // in place of `file`, which is not there; empty where it is
  std::string compression;       // of `packed`: "zstd:3"
};

/// The directory of the index, which a path names itself or by its directory, with or without wishes for columns.
std::filesystem::path mds_directory(const std::filesystem::path& path);

/// Throws Error, naming the file, for JSON of another form, and for names that lead out of the
/// directory.
std::vector<MdsShard> read_mds_index(const std::filesystem::path& directory);

/// True when the directory's index.json is that of such a dataset. Never throws.
bool has_mds_index(const std::filesystem::path& directory);

}  // namespace feedrate::formats
