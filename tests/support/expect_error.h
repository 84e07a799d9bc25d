#pragma once
// Error messages are part of the interface: tests name the words that a user must see.

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "formats/base/error.h"

namespace feedrate::testing {
using namespace formats;

/// `action` must throw an Error whose text contains every one of `parts`.
inline void expect_error(const std::function<void()>& action,
                         std::initializer_list<std::string_view> parts) {
  try {
    action();
  } catch (const Error& error) {
    for (const std::string_view part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << "the error says: " << error.what() << "\nbut not:        " << part;
    }
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace feedrate::testing
