#include "formats/containers/webdataset/tar_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_tars = 1'000'000;
constexpr std::string_view tar_endings[] = {".tar",     ".tar.gz", ".tgz",
                                            ".tar.bz2", ".tar.xz", ".tar.zst"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Expands "000000..000146" to numbers with as many digits as the first has.
std::vector<std::string> expand_range(const std::string& pattern, std::string_view range) {
  const std::size_t dots = range.find("..");
  const std::string_view first = range.substr(0, dots);
  const auto from = parse_number<std::uint64_t>(first);
  const auto to = dots == std::string_view::npos
                      ? std::nullopt
                      : parse_number<std::uint64_t>(range.substr(dots + 2));
  if (!from || !to || *from > *to || *to - *from >= max_tars) {
    throw Error(join(pattern, ": '{", range, "}' is not a range like {000000..000146}"));
  }
  std::vector<std::string> numbers;
  for (std::uint64_t number = *from; number <= *to; ++number) {
    numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  }
  return numbers;
}

// A tar's name around its number: "train-", 12, ".tar". A tar without a number is a set of its own.
struct Numbered {
  std::string stem;
  std::string digits;
  std::string ending;
  fs::path file;

  std::uint64_t number() const { return parse_number<std::uint64_t>(digits).value_or(0); }
};

Numbered parse_name(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t end = std::min(name.rfind(".tar"), name.rfind(".tgz"));
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  // Longer runs of digits are dates and the like, not numbers of shards.
  constexpr std::size_t max_digits = 9;
  begin = std::max(begin, end > max_digits ? end - max_digits : 0);
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end), file};
}

std::vector<fs::path> tars_in(const fs::path& directory, std::error_code& error) {
  std::vector<fs::path> tars;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (is_tar_name(at->path().filename().string()) && !at->is_directory(ignored)) {
      tars.push_back(at->path());
    }
  }
  return tars;
}

// "train-{000000..000003}.tar", which tells the user how to name the set.
std::string pattern_of(const std::vector<Numbered>& set) {
  const Numbered& first = set.front();
  if (set.size() == 1) return first.file.filename().string();
  return join(first.stem, '{', first.digits, "..", set.back().digits, '}', first.ending);
}

// Checks that the sorted numbers have neither gaps nor duplicates.
void check_numbers(const fs::path& directory, const std::vector<Numbered>& set) {
  for (std::size_t i = 1; i < set.size(); ++i) {
    const std::uint64_t before = set[i - 1].number();
    if (set[i].number() == before) {
      fail(directory, "holds one shard twice, as ", set[i - 1].file.filename(), " and ",
           set[i].file.filename());
    }
    if (set[i].number() != before + 1) {
      fail(directory, "misses a shard between ", set[i - 1].file.filename(), " and ",
           set[i].file.filename(), "; name the files by a pattern to read only these");
    }
  }
}

std::vector<fs::path> tars_of_directory(const fs::path& directory) {
  std::error_code error;
  std::map<std::string, std::vector<Numbered>> sets;
  for (const fs::path& file : tars_in(directory, error)) {
    Numbered tar = parse_name(file);
    sets[tar.digits.empty() ? tar.stem + tar.ending : tar.stem].push_back(std::move(tar));
  }
  if (error) fail_errno(directory, "cannot look into the directory", error.value());
  if (sets.empty()) fail(directory, "holds no tar");
  std::string names;
  for (auto& [stem, set] : sets) {
    std::sort(set.begin(), set.end(), [](const Numbered& a, const Numbered& b) {
      return std::pair(a.number(), a.file) < std::pair(b.number(), b.file);
    });
    names += join(names.empty() ? "" : ", ", pattern_of(set));
  }
  if (sets.size() != 1) fail(directory, "holds several datasets, name one: ", names);
  const std::vector<Numbered>& set = sets.begin()->second;
  check_numbers(directory, set);
  std::vector<fs::path> files;
  for (const Numbered& tar : set) files.push_back(tar.file);
  return files;
}

}  // namespace

bool is_tar_name(std::string_view file_name) {
  return std::any_of(std::begin(tar_endings), std::end(tar_endings),
                     [&](std::string_view ending) { return file_name.ends_with(ending); });
}

std::vector<std::string> expand_braces(const std::string& pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const std::size_t close = pattern.find('}', open);
  if (close == std::string::npos) throw Error(join(pattern, ": a brace is not closed"));
  std::vector<std::string> names;
  const auto range = std::string_view(pattern).substr(open + 1, close - open - 1);
  const std::vector<std::string> numbers = expand_range(pattern, range);
  const std::vector<std::string> tails = expand_braces(pattern.substr(close + 1));
  if (numbers.size() * tails.size() > max_tars) throw Error(join(pattern, ": too many files"));
  for (const std::string& number : numbers) {
    for (const std::string& tail : tails) {
      names.push_back(join(std::string_view(pattern).substr(0, open), number, tail));
    }
  }
  return names;
}

bool is_brace_pattern(const fs::path& path) {
  const std::string text = path.string();
  const std::size_t open = text.find('{');
  std::error_code ignored;
  return open != std::string::npos && text.find('}', open) != std::string::npos &&
         !fs::exists(path, ignored);
}

std::vector<fs::path> find_tars(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return tars_of_directory(path);
  if (!is_brace_pattern(path)) return {path};
  std::vector<fs::path> files;
  for (std::string& name : expand_braces(path.string())) files.emplace_back(std::move(name));
  return files;
}

bool holds_tars(const fs::path& directory) {
  std::error_code ignored;
  return !tars_in(directory, ignored).empty();
}

}  // namespace feedrate::formats
