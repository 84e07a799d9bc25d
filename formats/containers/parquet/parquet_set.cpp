#include "formats/containers/parquet/parquet_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/shards.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".parquet";

struct Name {
  std::string split;  // of all shards alike; of another file its own name
  std::uint32_t shard = 0;
  std::optional<std::uint32_t> count;
};

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "train-00000-of-00004.parquet", older "train-00000-of-00004-3f2a….parquet", and "0000.parquet" of
// the Hub's own conversions.
Name parse_name(const fs::path& file) {
  std::string stem = file.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash != std::string::npos && is_hexadecimal(std::string_view(stem).substr(dash + 1))) {
    const auto older = parse_shard_name(stem.substr(0, dash));
    if (older && stem.find("-of-") != dash - 3) return {older->stem, older->shard, older->count};
  }
  if (const auto shard = parse_shard_name(stem)) return {shard->stem, shard->shard, shard->count};
  if (const auto number = parse_number<std::uint32_t>(stem)) return {"", *number, std::nullopt};
  return {stem, 0, std::nullopt};
}

using Splits = std::map<std::string, std::map<std::uint32_t, fs::path>>;

Splits splits_in(const fs::path& directory) {
  Splits splits;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() != extension || !entry.is_regular_file(ignored)) continue;
    const Name name = parse_name(entry.path());
    const auto [at, is_new] = splits[name.split].emplace(name.shard, entry.path());
    if (!is_new) {
      fail(directory, "holds shard ", name.shard, " of '", name.split,
           "' twice: ", at->second.filename(), ", ", entry.path().filename());
    }
  }
  return splits;
}

std::vector<fs::path> whole(const fs::path& directory,
                            const std::map<std::uint32_t, fs::path>& shards) {
  const std::optional<std::uint32_t> stated = parse_name(shards.begin()->second).count;
  const std::uint32_t count = stated.value_or(static_cast<std::uint32_t>(shards.size()));
  std::vector<fs::path> files;
  for (const auto& [number, file] : shards) {
    const std::optional<std::uint32_t> own = parse_name(file).count;
    if (own != stated) fail(file, "is one of ", own.value_or(0), " shards, others of ", count);
    if (number != files.size()) break;
    files.push_back(file);
  }
  if (files.size() != count || files.size() != shards.size()) {
    fail(directory, "expected ", count, " shards like ", shards.begin()->second.filename(),
         ", found ", shards.size(), ": number ", files.size(), " is missing");
  }
  return files;
}

}  // namespace

bool holds_parquet(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == extension && entry.is_regular_file(ignored)) return true;
  }
  return false;
}

std::vector<fs::path> parquet_files(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const Name name = parse_name(path);
    if (!name.count) return {path};
    const fs::path directory = path.parent_path().empty() ? "." : path.parent_path();
    const Splits splits = splits_in(directory);
    const auto split = splits.find(name.split);
    if (split == splits.end() || split->second.size() != name.count) return {path};
    return whole(directory, split->second);
  }
  const Splits splits = splits_in(path);
  if (splits.size() == 1) return whole(path, splits.begin()->second);
  std::string files;
  for (const auto& [split, shards] : splits) {
    files += join(files.empty() ? "" : ", ", shards.begin()->second.filename());
  }
  fail(path, "holds several datasets, name a file of one: ", files);
}

}  // namespace feedrate::formats
