#include "formats/containers/file_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/braces.h"
#include "formats/containers/shards.h"
#include "formats/sidecar.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Longer runs of digits are dates and the like, not numbers of shards.
constexpr std::size_t max_digits = 9;

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/// A name around its number: "train-", "12", ".tar". A file without a number has no digits.
struct Numbered {
  std::string key;  // of the set
  std::string before, digits, after;
  fs::path file;

  std::uint64_t number() const { return parse_number<std::uint64_t>(digits).value_or(0); }
};

std::size_t stem_size(std::string_view name, std::span<const std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (name.ends_with(ending)) return name.size() - ending.size();
  }
  return name.size();
}

Numbered numbered_at_end(const fs::path& file, std::span<const std::string_view> endings) {
  const std::string name = file.filename().string();
  const std::size_t end = stem_size(name, endings);
  std::size_t begin = end;
  while (begin > 0 && is_decimal_digit(name[begin - 1])) --begin;
  begin = std::max(begin, end > max_digits ? end - max_digits : 0);
  Numbered found{
      {}, name.substr(0, begin), name.substr(begin, end - begin), name.substr(end), file};
  found.key = found.digits.empty() ? name : found.before;
  return found;
}

/// "00-192x192-798.tfrec" as "00" and "-#x#-#.tfrec", "part-00000-c000.parquet" as "00000" and "-c#.parquet".
Numbered numbered_at_begin(const fs::path& file, std::span<const std::string_view>) {
  constexpr std::string_view part = "part-";
  const std::string name = file.filename().string();
  const std::size_t begin = name.starts_with(part) ? part.size() : 0;
  std::size_t end = begin;
  while (end < name.size() && is_decimal_digit(name[end])) ++end;
  Numbered found{name, name.substr(0, begin), name.substr(begin, end - begin), name.substr(end),
                 file};
  if (end == begin || end - begin > max_digits) {
    found.digits.clear();
    return found;
  }
  found.key = join(found.before, '#');
  for (std::size_t i = end; i < name.size(); ++i) {
    if (!is_decimal_digit(name[i])) {
      found.key += name[i];
    } else if (!is_decimal_digit(name[i - 1]) || i == end) {
      found.key += '#';
    }
  }
  return found;
}

std::string problem_of(const std::vector<Numbered>& set) {
  for (std::size_t i = 1; i < set.size(); ++i) {
    const std::uint64_t before = set[i - 1].number();
    const std::string names =
        join(set[i - 1].file.filename().string(), " and ", set[i].file.filename().string());
    if (set[i].number() == before) return join("holds one shard twice, as ", names);
    if (set[i].number() != before + 1) {
      return join("misses a shard between ", names,
                  "; name the files by a pattern to read only these");
    }
  }
  return {};
}

// "train-{000000..000003}.tar", which tells the user how to name the set, as far as all are named alike.
std::string shown(const std::vector<Numbered>& set) {
  const Numbered &first = set.front(), &last = set.back();
  if (set.size() == 1) return first.file.filename().string();
  if (first.after != last.after) {
    return join(first.file.filename().string(), " … ", last.file.filename().string());
  }
  return join(first.before, '{', first.digits, "..", last.digits, '}', first.after);
}

std::vector<NumberedSet> sets_of(const std::vector<fs::path>& files,
                                 std::span<const std::string_view> endings,
                                 Numbered (*parse)(const fs::path&,
                                                   std::span<const std::string_view>)) {
  std::map<std::string, std::vector<Numbered>> by_key;
  for (const fs::path& file : files) {
    Numbered one = parse(file, endings);
    by_key[one.key].push_back(std::move(one));
  }
  std::vector<NumberedSet> sets;
  for (auto& [key, set] : by_key) {
    std::ranges::sort(set, [](const Numbered& a, const Numbered& b) {
      return std::pair(a.number(), a.file) < std::pair(b.number(), b.file);
    });
    NumberedSet& made = sets.emplace_back(NumberedSet{shown(set), {}, problem_of(set)});
    for (Numbered& one : set) made.files.push_back(std::move(one.file));
  }
  return sets;
}

bool is_one(const std::vector<NumberedSet>& sets) {
  return sets.size() == 1 && sets.front().problem.empty();
}

std::vector<fs::path> own_files(const fs::path& directory, const FileNames& names,
                                std::error_code& error) {
  std::vector<fs::path> files;
  const fs::path place = directory.empty() ? fs::path(".") : directory;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (names.is_own(at->path().filename().string()) && !at->is_directory(ignored)) {
      files.push_back(directory / at->path().filename());
    }
  }
  return files;
}

bool is_shard(const fs::path& file) {
  return parse_shard_name(file.filename().string()).has_value();
}

/// Sets of shards that say how many they are.
std::vector<NumberedSet> counted_sets(const fs::path& directory, const FileNames& names) {
  std::vector<NumberedSet> sets;
  for (const fs::path& first : shard_sets(directory)) {
    if (!names.is_own(first.filename().string())) continue;
    NumberedSet& made = sets.emplace_back(NumberedSet{first.filename().string(), {}, {}});
    try {
      const ShardSet set = find_shards(first);
      if (!set.complete())
        made.shown += join(" (", set.files.size(), " of ", set.count, " shards)");
      made.files = set.files;
    } catch (const Error&) {
      made.files = {first};  // whoever reads it says what is wrong
    }
  }
  return sets;
}

std::vector<fs::path> files_of_directory(const fs::path& directory, const FileNames& names) {
  std::error_code error;
  std::vector<fs::path> files = own_files(directory, names, error);
  if (error) fail_errno(directory, "cannot look into the directory", error.value());
  if (files.empty()) fail(directory, "holds no ", names.what);
  std::vector<NumberedSet> sets = counted_sets(directory, names);
  std::erase_if(files, is_shard);
  for (NumberedSet& set : numbered_sets(std::move(files), names.endings))
    sets.push_back(std::move(set));
  std::ranges::sort(sets, {}, &NumberedSet::shown);
  if (sets.size() != 1) {
    std::string all;
    for (const NumberedSet& set : sets) all += join(all.empty() ? "" : ", ", set.shown);
    fail(directory, "holds several datasets, name one: ", all);
  }
  const NumberedSet& set = sets.front();
  if (!set.problem.empty()) fail(directory, set.problem);
  if (!is_shard(set.files.front())) return set.files;
  const ShardSet shards = find_shards(set.files.front());
  require_complete(shards);
  return shards.files;
}

}  // namespace

bool FileNames::is_own(std::string_view name) const {
  if (is_shard != nullptr && is_shard(name)) return true;
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

std::vector<NumberedSet> numbered_sets(std::vector<fs::path> files,
                                       std::span<const std::string_view> endings) {
  std::vector<NumberedSet> by_end = sets_of(files, endings, numbered_at_end);
  if (files.empty() || is_one(by_end)) return by_end;
  std::vector<NumberedSet> by_begin = sets_of(files, endings, numbered_at_begin);
  return is_one(by_begin) ? by_begin : by_end;
}

std::vector<fs::path> dataset_files(const fs::path& path, const FileNames& names) {
  std::error_code ignored;
  const auto of_directory = [&](const fs::path& directory) {
    return files_of_directory(directory, names);
  };
  if (is_brace_pattern(path)) return pattern_files(path, of_directory);
  if (fs::is_directory(path, ignored)) return of_directory(path);
  if (!names.is_own(path.filename().string()) || !is_shard(path)) return {path};
  const ShardSet set = find_shards(path);
  if (set.complete()) return set.files;
  if (fs::exists(path.parent_path() / sidecar_name, ignored)) require_complete(set);
  return {path};
}

bool holds_files(const fs::path& directory, const FileNames& names) {
  std::error_code ignored;
  return !own_files(directory, names, ignored).empty();
}

}  // namespace feedrate::formats
