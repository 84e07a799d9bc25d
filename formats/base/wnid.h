#pragma once
// WordNet ids, ImageNet's names for its classes. Stateless.

#include <algorithm>
#include <string_view>

namespace feedrate::formats {

/// True for a WordNet id as ImageNet writes it: "n" and eight digits.
constexpr bool is_wnid(std::string_view text) {
  return text.size() == 9 && text[0] == 'n' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace feedrate::formats
