#pragma once
// Bytes written as hex digits, for test vectors made by other tools.

#include <stdexcept>
#include <string>
#include <string_view>

namespace feedrate::testing {

inline std::string from_hex(std::string_view digits) {
  const auto value = [](char digit) {
    const std::size_t at = std::string_view("0123456789abcdef").find(digit);
    if (at == std::string_view::npos) throw std::runtime_error("not a hex digit");
    return at;
  };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) << 4 | value(digits[i + 1]));
  }
  return bytes;
}

}  // namespace feedrate::testing
