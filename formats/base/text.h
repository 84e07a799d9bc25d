#pragma once
// Small text files of other tools: lines, tab-separated columns, whole numbers, and numbers for
// people. Stateless.

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::formats {

/// Takes the next line off the front of `text`, without its end (LF or CR LF).
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Takes what stands before the next tab off the front of `line`.
inline std::string_view take_column(std::string_view& line) {
  const std::size_t end = line.find('\t');
  const std::string_view column = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return column;
}

/// The whole text as a decimal number that fits, or nothing.
template <std::integral T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes a decimal number that fits, and the `end` behind it, off the front of `text`: or nothing.
template <std::integral T>
std::optional<T> take_number(std::string_view& text, char end) {
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

}  // namespace feedrate::formats
