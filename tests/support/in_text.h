#pragma once
// What a text holds.

#include <gtest/gtest.h>

#include <string_view>

namespace feedrate::testing {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline void expect_part(std::string_view text, std::string_view part) {
  EXPECT_TRUE(has(text, part)) << "no '" << part << "' in: " << text;
}

}  // namespace feedrate::testing
