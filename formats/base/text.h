#pragma once
// Parsing of other tools' small text files: lines, tab-separated columns, whole numbers. Also
// numbers for people. Stateless.

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace feedrate::formats {

/// Takes the next line off the front of `text`, without its end (LF or CR LF).
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// How many lines take_line() will take.
inline std::size_t count_lines(std::string_view text) {
  const bool open = !text.empty() && !text.ends_with('\n');
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (open ? 1 : 0);
}

/// Takes the text before the next tab off the front of `line`, and drops the tab.
inline std::string_view take_column(std::string_view& line) {
  const std::size_t end = line.find('\t');
  const std::string_view column = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return column;
}

/// `text` without the blanks (spaces, tabs, line ends) in front of and behind it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The whole of `text` as a decimal number; nothing when it is none or does not fit.
template <std::integral T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes a decimal number and the `end` behind it off the front of `text`; nothing when they are
/// not there or the number does not fit.
template <class T>
requires std::is_arithmetic_v<T> std::optional<T> take_number(std::string_view& text, char end) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || at == last || *at != end) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(at + 1 - text.data()));
  return value;
}

/// 1234567 → "1,234,567".
inline std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

/// `text` with `\xNN` in place of each control character (C0, DEL, C1 in UTF-8) that is not `kept`: a
/// name in an archive must not move the cursor of a terminal or start a line of its own.
inline std::string without_controls(std::string_view text, std::string_view kept = "") {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    if ((byte >= ' ' && byte != 0x7f && !is_c1) || kept.find(text[i]) != std::string_view::npos) {
      shown += text[i];
    } else {
      shown.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return shown;
}

}  // namespace feedrate::formats
