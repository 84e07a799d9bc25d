#include "formats/base/setting.h"

#include <charconv>
#include <cmath>

#include "formats/base/kind.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

std::string replaced(std::string_view text, char from, char to) {
  std::string all(text);
  std::ranges::replace(all, from, to);
  return all;
}

std::string upper(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return letters;
}

/// "u8, f32 or f16"
std::string alternatives(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += join(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return text;
}

std::string whole_range(const Setting& row) {
  if (row.max == Setting::unlimited) return join("a whole number of at least ", row.min);
  return join("a whole number from ", row.min, " to ", row.max);
}

/// Whether it is a number that no whole number of 64 bits is.
bool beyond_whole(const Setting& row, std::string_view found) {
  if (row.kind != SettingKind::whole || row.max != Setting::unlimited) return false;
  if (found.starts_with('\'') && found.ends_with('\'') && found.size() > 2)
    found = found.substr(1, found.size() - 2);
  return !found.empty() && found.find_first_not_of("0123456789") == std::string_view::npos &&
         !parse_number<std::uint64_t>(found);
}

std::string real_range(const RealRange& range) {
  std::string text = "a number";
  const bool has_low = std::isfinite(range.low);
  if (has_low && std::isfinite(range.high) && !range.above_low && !range.below_high) {
    return text +
           join(" from ", detail::real_text(range.low), " to ", detail::real_text(range.high));
  }
  if (has_low)
    text += join(range.above_low ? " above " : " of at least ", detail::real_text(range.low));
  if (!std::isfinite(range.high)) return text;
  return text + join(has_low ? " and" : "", range.below_high ? " below " : " of at most ",
                     detail::real_text(range.high));
}

std::string quoted(std::string_view text) { return join("'", text, "'"); }

[[noreturn]] void refuse(const Setting& row, std::string_view found) {
  throw Error(refusal(row, found));
}

}  // namespace

bool RealRange::holds(double value) const {
  return std::isfinite(value) && (above_low ? value > low : value >= low) &&
         (below_high ? value < high : value <= high);
}

std::string spelled(const Setting& row, Spelling by) {
  if (by == Spelling::json) return join("\"", row.name, "\"");
  if (by != Spelling::shell) return std::string(row.name);
  return join(row.without.empty() ? "--" : "--no-",
              replaced(row.shell.empty() ? row.name : row.shell, '_', '-'));
}

std::string spelled_word(const Setting& row, std::string_view word, Spelling by) {
  switch (by) {
    case Spelling::python:
      return quoted(word);
    case Spelling::c:  // FEEDRATE_BAD_SKIP of on_bad: a constant is named after the last word
      return join("FEEDRATE_", upper(row.name.substr(row.name.rfind('_') + 1)), "_", upper(word));
    case Spelling::json:
      return join("\"", word, "\"");
    case Spelling::shell:
      break;
  }
  return std::string(word);
}

std::string spelled(const Setting& row, std::initializer_list<std::string_view> words,
                    Spelling by) {
  std::vector<std::string> all;
  for (const std::string_view word : words) all.push_back(spelled_word(row, word, by));
  const std::string_view equals = by == Spelling::shell    ? " "
                                  : by == Spelling::python ? "="
                                  : by == Spelling::c      ? " = "
                                                           : ": ";
  return join(spelled(row, by), equals, alternatives(all));
}

std::string spelled_nothing(const Setting& row, Spelling by) {
  if (!row.optional) return "";
  if (!row.nothing.empty()) return spelled_word(row, row.nothing, by);
  if (by == Spelling::python) return "None";
  if (by != Spelling::c) return "";
  return row.kind == SettingKind::word ? spelled_word(row, "usual", by) : "0";
}

std::string expected(const Setting& row, Spelling by) {
  std::vector<std::string> ways;
  switch (row.kind) {
    case SettingKind::flag:
      ways = by == Spelling::python ? std::vector<std::string>{"True", "False"}
                                    : std::vector<std::string>{"true", "false"};
      break;
    case SettingKind::whole:
      ways = {whole_range(row)};
      break;
    case SettingKind::real:
    case SettingKind::reals:
      ways = {real_range(row.range)};
      break;
    case SettingKind::word:
      for (const std::string_view word : row.words) ways.push_back(spelled_word(row, word, by));
      break;
    case SettingKind::name:
      for (const std::string_view word : row.words) ways.push_back(spelled_word(row, word, by));
      if (ways.empty()) ways = {"a name"};
      break;
    case SettingKind::path:
      ways = {"a path"};
      break;
    case SettingKind::special:
      ways = {std::string(row.unit)};
      break;
  }
  if (std::string nothing = spelled_nothing(row, by); !nothing.empty()) ways.push_back(nothing);
  return alternatives(ways);
}

std::string refusal(const Setting& row, std::string_view found, Spelling by) {
  if (beyond_whole(row, found)) {
    return join("expected a whole number from ", row.min, " to ", row.max, ", found ", found);
  }
  return join("expected ", expected(row, by), ", found ", found);
}

void expect_text(const Setting& row, std::string_view text) {
  switch (row.kind) {
    case SettingKind::flag:
      detail::read_flag(row, text);
      break;
    case SettingKind::whole:
      detail::read_whole(row, text);
      break;
    case SettingKind::real:
      detail::read_real(row, text);
      break;
    case SettingKind::word:
      detail::read_word(row, text);
      break;
    case SettingKind::reals:
      detail::read_reals(row, text);
      break;
    case SettingKind::name:
    case SettingKind::path:
    case SettingKind::special:
      detail::read_name(row, text);
      break;
  }
}

namespace detail {

bool read_flag(const Setting& row, std::string_view text) {
  if (text != "true" && text != "false") refuse(row, quoted(text));
  return text == "true";
}

std::uint64_t read_whole(const Setting& row, std::string_view text) {
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number < row.min || *number > row.max) refuse(row, quoted(text));
  return *number;
}

double read_real(const Setting& row, std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || !row.range.holds(number)) refuse(row, quoted(text));
  return number;
}

std::size_t read_word(const Setting& row, std::string_view text) {
  const auto found = std::ranges::find(row.words, text);
  if (found != row.words.end()) return static_cast<std::size_t>(found - row.words.begin());
  const std::string_view nearest = nearest_name(text, row.words);
  throw Error(refusal(row, quoted(text)) +
              (nearest.empty() ? "" : join("; did you mean ", nearest, "?")));
}

std::string read_name(const Setting& row, std::string_view text) {
  std::string value(text);
  if (value.empty() || value.find('\0') != std::string::npos) refuse(row, quoted(text));
  expect_name(row, value);
  return value;
}

std::vector<double> read_reals(const Setting& row, std::string_view text) {
  std::vector<double> values;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    values.push_back(read_real(row, text.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return values;
}

void expect_whole(const Setting& row, std::uint64_t value) {
  if (value < row.min || value > row.max) refuse(row, std::to_string(value));
}

void expect_real(const Setting& row, double value) {
  if (!row.range.holds(value)) refuse(row, real_text(value));
}

void expect_name(const Setting& row, const std::string& value) {
  if (!row.words.empty()) read_word(row, value);
  if (row.check != nullptr) row.check(value);
}

std::string real_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
  return {text, end};
}

}  // namespace detail
}  // namespace feedrate::formats
