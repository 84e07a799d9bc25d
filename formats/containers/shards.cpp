#include "formats/containers/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view between = "-of-";
constexpr std::size_t max_missing_names = 3;  // listed in an error

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Shard {
  ShardName name;
  fs::path file;
};

auto set_key(const ShardName& name) { return std::tie(name.stem, name.separator, name.extension); }

// Every file in `directory` that is named like a shard, by set, then by number.
std::vector<Shard> shards_in(const fs::path& directory, std::error_code& error) {
  std::vector<Shard> shards;
  const fs::path place = directory.empty() ? fs::path(".") : directory;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    std::error_code ignored;
    auto name = parse_shard_name(file);
    if (name && !at->is_directory(ignored)) {
      shards.push_back({std::move(*name), directory / file});
    }
  }
  std::sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) {
    return std::tuple(set_key(a.name), a.name.shard, a.file) <
           std::tuple(set_key(b.name), b.name.shard, b.file);
  });
  return shards;
}

// Checks that the sorted names of one set do not contradict each other.
void check_names(const std::vector<Shard>& shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto& [name, file] = shards[i];
    const Shard& before = shards[i == 0 ? 0 : i - 1];
    if (name.count != before.name.count) {
      fail(file.parent_path(), "holds shards of two sets, ", before.file.filename(), " and ",
           file.filename(), "; keep only one set");
    }
    if (name.shard >= name.count) {
      fail(file, "there is no shard ", name.shard, " of ", name.count, "; shards count from 0");
    }
    if (i != 0 && name.shard == before.name.shard) {
      fail(file.parent_path(), "holds shard ", name.shard, " twice, as ", before.file.filename(),
           " and ", file.filename());
    }
  }
}

// The first few names, for an error; a name may claim billions of shards.
std::vector<std::string> first_missing(const std::vector<Shard>& shards) {
  std::vector<std::string> missing;
  ShardName wanted = shards.front().name;
  auto there = shards.begin();
  for (wanted.shard = 0; wanted.shard < wanted.count; ++wanted.shard) {
    if (there != shards.end() && there->name.shard == wanted.shard) {
      ++there;
    } else {
      missing.push_back(wanted.text());
      if (missing.size() == max_missing_names) break;
    }
  }
  return missing;
}

}  // namespace

std::string ShardName::text() const {
  return fmt::format("{}{}{:05}{}{:05}{}", stem, separator, shard, between, count, extension);
}

std::optional<ShardName> parse_shard_name(std::string_view file_name) {
  const std::size_t middle = file_name.rfind(between);
  if (middle == std::string_view::npos) return std::nullopt;
  const std::string_view before = file_name.substr(0, middle);
  const std::string_view after = file_name.substr(middle + between.size());

  const auto number = std::find_if_not(before.rbegin(), before.rend(), is_digit);
  const auto stem = static_cast<std::size_t>(before.rend() - number);  // includes its separator
  const auto total = static_cast<std::size_t>(
      std::find_if_not(after.begin(), after.end(), is_digit) - after.begin());
  const auto shard = parse_number<std::uint32_t>(before.substr(stem));
  const auto count = parse_number<std::uint32_t>(after.substr(0, total));
  const bool named = stem > 1 && (before[stem - 1] == '-' || before[stem - 1] == '_');
  const bool ended = total == after.size() || after[total] == '.';
  if (!shard || !count || *count == 0 || !named || !ended) return std::nullopt;
  return ShardName{.stem = std::string(before.substr(0, stem - 1)),
                   .shard = *shard,
                   .count = *count,
                   .extension = std::string(after.substr(total)),
                   .separator = before[stem - 1]};
}

ShardSet find_shards(const fs::path& shard) {
  const std::optional<ShardName> name = parse_shard_name(shard.filename().string());
  if (!name) fail(shard, "is not named like a shard, such as train-00000-of-00004");
  std::error_code error;
  std::vector<Shard> shards = shards_in(shard.parent_path(), error);
  if (error) fail_errno(shard.parent_path(), "cannot look into the directory", error.value());
  std::erase_if(shards, [&](const Shard& other) { return set_key(other.name) != set_key(*name); });
  if (shards.empty()) fail(shard, "there is no such file");
  check_names(shards);
  ShardSet set;
  set.count = shards.front().name.count;
  for (const Shard& each : shards) set.files.push_back(each.file);
  set.missing = first_missing(shards);
  return set;
}

void require_complete(const ShardSet& set) {
  if (set.complete()) return;
  std::string names;
  for (const std::string& name : set.missing) names += join(names.empty() ? "" : ", ", name);
  const std::size_t absent = set.count - set.files.size();
  const std::size_t unnamed = absent - set.missing.size();
  fail(set.files.front().parent_path(), "holds ", set.files.size(), " of ", set.count,
       " shards; missing: ", names, unnamed == 0 ? "" : join(" and ", unnamed, " more"));
}

std::vector<fs::path> shard_sets(const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> sets;
  const std::vector<Shard> shards = shards_in(directory, ignored);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (i == 0 || set_key(shards[i].name) != set_key(shards[i - 1].name)) {
      sets.push_back(shards[i].file);
    }
  }
  return sets;
}

ShardRun::ShardRun(const WriterOptions& options)
    : sharding_(options.sharding),
      first_(options.first),
      last_(options.last != 0 ? options.last : options.sharding.samples),
      index_(options.first) {
  const auto& [count, samples] = sharding_;
  if (count == 0) throw Error("a dataset has at least one shard");
  if (count > 1 && samples == 0) {
    throw Error(join("the number of samples must be known to write ", count, " shards"));
  }
  opened_ = first_ == 0 ? 0 : shard_at(first_);
  end_ = last_ == samples ? count : shard_at(last_);
  const bool starts = first_ == 0 || sharding_.begin(opened_) == first_;
  const bool ends = last_ == samples || sharding_.begin(end_) == last_;
  if (!starts || !ends || first_ > last_) {
    throw Error(join("the samples ", first_, " to ", last_, " of ", samples,
                     " do not fill whole shards, of which there are ", count));
  }
  if (options.resume == nullptr || options.resume->samples == 0) return;
  index_ += options.resume->samples;
  if (last_ != 0 && index_ > last_) {
    throw Error(join("cannot go on after ", options.resume->samples, " samples: there are ",
                     last_ - first_));
  }
  // Every shard that starts before the next sample has been opened; the last of them may be
  // unfinished.
  while (opened_ < end_ && sharding_.begin(opened_) < index_) ++opened_;
  resumed_ = true;
}

// The first shard that starts at `sample` or later.
std::uint32_t ShardRun::shard_at(std::uint64_t sample) const {
  std::uint32_t low = 0;
  for (std::uint32_t high = sharding_.count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (sharding_.begin(middle) < sample) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<std::uint32_t> ShardRun::resumed_shard() const {
  if (!resumed_) return std::nullopt;
  return opened_ - 1;
}

std::optional<std::uint32_t> ShardRun::shard_to_open() {
  if (last_ != 0 && index_ == last_) {
    throw Error(join("more samples than the ", last_ - first_, " that were announced"));
  }
  if (opened_ == end_ || sharding_.begin(opened_) > index_) return std::nullopt;
  return opened_++;
}

std::optional<std::uint32_t> ShardRun::shard_left() {
  if (opened_ == end_) return std::nullopt;
  return opened_++;
}

std::uint64_t resumed_size(const WriterState& state, std::string_view file,
                           const fs::path& directory) {
  const auto at = std::find_if(state.files.begin(), state.files.end(),
                               [&](const auto& entry) { return entry.first == file; });
  if (at == state.files.end()) {
    fail(directory, "cannot go on writing: the size of ", file, " is unknown");
  }
  return at->second;
}

}  // namespace feedrate::formats
