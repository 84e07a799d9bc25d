#include "formats/containers/braces.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_names = 1'000'000;
constexpr std::string_view special = "{},\\";

bool is_escaped(std::string_view text, std::size_t at) {
  return text[at] == '\\' && at + 1 < text.size() && special.find(text[at + 1]) != text.npos;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_escaped(text, i)) ++i;
    plain += text[i];
  }
  return plain;
}

/// The first place at `begin` or behind it that `stop` is true of, outside of inner braces and escapes.
template <class Stop>
std::size_t find_outside(std::string_view text, std::size_t begin, const Stop& stop) {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (is_escaped(text, i)) {
      ++i;
    } else if (depth == 0 && stop(text[i])) {
      return i;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && depth > 0) {
      --depth;
    }
  }
  return text.npos;
}

/// "000000..000146" and "0..9..3" as numbers with as many digits as the first has; nothing for other text.
std::optional<std::vector<std::string>> range_of(std::string_view text) {
  constexpr std::string_view dots = "..";
  std::vector<std::uint64_t> numbers;
  std::size_t digits = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(dots, begin), text.size());
    const auto number = parse_number<std::uint64_t>(text.substr(begin, end - begin));
    if (!number) return std::nullopt;
    if (numbers.empty()) digits = end;
    numbers.push_back(*number);
    begin = end + dots.size();
  }
  if (numbers.size() < 2 || numbers.size() > 3) return std::nullopt;
  const std::uint64_t from = numbers[0], to = numbers[1],
                      step = numbers.size() == 3 ? numbers[2] : 1;
  if (from > to || step == 0 || (to - from) / step >= max_names) return std::nullopt;
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i <= (to - from) / step; ++i) {
    names.push_back(fmt::format("{:0{}}", from + i * step, digits));
  }
  return names;
}

std::vector<std::string> expanded(std::string_view pattern, const std::string& whole);

/// What stands between braces: a range, or words that commas separate.
std::vector<std::string> choices_of(std::string_view text, const std::string& whole) {
  if (auto range = range_of(text)) return std::move(*range);
  const auto comma = [](char c) { return c == ','; };
  if (find_outside(text, 0, comma) == text.npos) {
    throw Error(join(whole, ": '{", text,
                     "}' is not a range like {000000..000146}, nor a list like {a,b}"));
  }
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(find_outside(text, begin, comma), text.size());
    for (std::string& word : expanded(text.substr(begin, end - begin), whole)) {
      words.push_back(std::move(word));
    }
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> expanded(std::string_view pattern, const std::string& whole) {
  const std::size_t open = find_outside(pattern, 0, [](char c) { return c == '{'; });
  if (open == pattern.npos) return {unescaped(pattern)};
  const std::size_t close = find_outside(pattern, open + 1, [](char c) { return c == '}'; });
  if (close == pattern.npos) throw Error(join(whole, ": a brace is not closed"));
  const std::string head = unescaped(pattern.substr(0, open));
  const auto choices = choices_of(pattern.substr(open + 1, close - open - 1), whole);
  const auto tails = expanded(pattern.substr(close + 1), whole);
  if (choices.size() * tails.size() > max_names) throw Error(join(whole, ": too many files"));
  std::vector<std::string> names;
  for (const std::string& choice : choices) {
    for (const std::string& tail : tails) names.push_back(join(head, choice, tail));
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& pattern) {
  if (pattern.find('{') == std::string::npos) return {pattern};
  return expanded(pattern, pattern);
}

std::string brace_pattern(std::span<const fs::path> paths) {
  std::string all;
  for (const fs::path& path : paths) {
    all += all.empty() ? '{' : ',';
    for (const char c : path.native()) {
      if (special.find(c) != special.npos) all += '\\';
      all += c;
    }
  }
  return all + '}';
}

bool is_brace_pattern(const fs::path& path) {
  const std::string text = path.string();
  const std::size_t open = text.find('{');
  std::error_code ignored;
  return open != std::string::npos && text.find('}', open) != std::string::npos &&
         !fs::exists(path, ignored);
}

std::vector<fs::path> pattern_files(
    const fs::path& pattern,
    const std::function<std::vector<fs::path>(const fs::path&)>& files_of) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const std::string& name : expand_braces(pattern.string())) {
    if (fs::is_directory(name, ignored)) {
      for (fs::path& file : files_of(name)) files.push_back(std::move(file));
    } else if (fs::exists(name, ignored)) {
      files.emplace_back(name);
    } else {
      fail(name, "No such file or directory, though ", shown_path(pattern), " names it");
    }
  }
  return files;
}

bool knows_pattern(const fs::path& pattern, const std::function<bool(const fs::path&)>& knows) {
  try {
    return knows(expand_braces(pattern.string()).front());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace feedrate::formats
