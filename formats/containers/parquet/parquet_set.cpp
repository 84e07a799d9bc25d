#include "formats/containers/parquet/parquet_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/braces.h"
#include "formats/containers/file_set.h"
#include "formats/containers/shards.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".parquet";
constexpr std::string_view endings[] = {".snappy.parquet", ".gz.parquet", ".zstd.parquet",
                                        ".lz4.parquet",    ".br.parquet", extension};

/// A shard's name that says how many there are.
struct Name {
  std::string split;  // of all shards alike
  std::uint32_t shard = 0, count = 0;
};

bool is_parquet_name(const fs::path& file) { return file.extension() == extension; }

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "train-00000-of-00004.parquet", older "train-00000-of-00004-3f2a….parquet".
std::optional<Name> parse_name(const fs::path& file) {
  std::string stem = file.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash != std::string::npos && is_hexadecimal(std::string_view(stem).substr(dash + 1))) {
    const auto older = parse_shard_name(stem.substr(0, dash));
    if (older && stem.find("-of-") != dash - 3)
      return Name{older->stem, older->shard, older->count};
  }
  if (const auto shard = parse_shard_name(stem))
    return Name{shard->stem, shard->shard, shard->count};
  return std::nullopt;
}

using Shards = std::map<std::uint32_t, fs::path>;

struct Sets {
  std::map<std::string, Shards> counted;  // by split
  std::vector<NumberedSet> others;
};

Sets sets_in(const fs::path& directory) {
  Sets sets;
  std::vector<fs::path> others;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (!is_parquet_name(entry.path()) || !entry.is_regular_file(ignored)) continue;
    const std::optional<Name> name = parse_name(entry.path());
    if (!name) {
      others.push_back(entry.path());
      continue;
    }
    const auto [at, is_new] = sets.counted[name->split].emplace(name->shard, entry.path());
    if (!is_new) {
      fail(directory, "holds shard ", name->shard, " of '", name->split,
           "' twice: ", at->second.filename(), ", ", entry.path().filename());
    }
  }
  sets.others = numbered_sets(std::move(others), endings);
  return sets;
}

std::vector<fs::path> whole(const fs::path& directory, const Shards& shards) {
  const std::uint32_t count = parse_name(shards.begin()->second)->count;
  std::vector<fs::path> files;
  for (const auto& [number, file] : shards) {
    const std::uint32_t own = parse_name(file)->count;
    if (own != count) fail(file, "is one of ", own, " shards, others of ", count);
    if (number != files.size()) break;
    files.push_back(file);
  }
  if (files.size() != count || files.size() != shards.size()) {
    fail(directory, "expected ", count, " shards like ", shards.begin()->second.filename(),
         ", found ", shards.size(), ": number ", files.size(), " is missing");
  }
  return files;
}

std::vector<fs::path> whole(const fs::path& directory, const NumberedSet& set) {
  if (!set.problem.empty()) fail(directory, set.problem);
  // The Hub's own conversions count from "0000.parquet".
  const std::string first = set.files.front().stem().string();
  if (const auto number = parse_number<std::uint32_t>(first); number && *number != 0) {
    fail(directory, "expected shards from number 0 on, found ", set.files.front().filename(),
         " as the first; name the files by a pattern to read only these");
  }
  return set.files;
}

std::vector<fs::path> files_of_directory(const fs::path& directory) {
  const Sets sets = sets_in(directory);
  if (sets.counted.size() + sets.others.size() == 1) {
    return sets.others.empty() ? whole(directory, sets.counted.begin()->second)
                               : whole(directory, sets.others.front());
  }
  std::vector<std::string> all;
  for (const auto& [split, shards] : sets.counted) {
    all.push_back(shards.begin()->second.filename().string());
  }
  for (const NumberedSet& set : sets.others) all.push_back(set.shown);
  if (all.empty()) fail(directory, "holds no Parquet file");
  std::ranges::sort(all);
  std::string files;
  for (const std::string& each : all) files += join(files.empty() ? "" : ", ", each);
  fail(directory, "holds several datasets, name one: ", files);
}

}  // namespace

bool holds_parquet(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (is_parquet_name(entry.path()) && entry.is_regular_file(ignored)) return true;
  }
  return false;
}

std::vector<fs::path> parquet_files(const fs::path& path) {
  std::error_code ignored;
  if (is_brace_pattern(path)) return pattern_files(path, files_of_directory);
  if (fs::is_directory(path, ignored)) return files_of_directory(path);
  const std::optional<Name> name = parse_name(path);
  if (!name) return {path};
  const fs::path directory = path.parent_path().empty() ? "." : path.parent_path();
  const Sets sets = sets_in(directory);
  const auto split = sets.counted.find(name->split);
  if (split == sets.counted.end() || split->second.size() != name->count) return {path};
  return whole(directory, split->second);
}

}  // namespace feedrate::formats
