#pragma once
// The exception of Feedrate, and the functions that throw it.
//
// An Error is a fault of the input, the machine or the caller's request; its text is a sentence
// that names the file, the place in it, what was expected and what was found. Bugs in Feedrate are
// asserts.

#include <concepts>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "formats/base/shown_path.h"

namespace feedrate::formats {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An Error whose text begins with its place, so that whoever knows the place need not add it.
class PlacedError : public Error {
 public:
  using Error::Error;
};

namespace detail {

template <class T>
std::string text(const T& part) {
  if constexpr (std::same_as<T, char>) {
    return {part};
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return std::string(std::string_view(part));
  } else if constexpr (std::same_as<T, std::filesystem::path>) {
    return shown_path(part);
  } else {
    return std::to_string(part);
  }
}

}  // namespace detail

/// The parts (strings, paths, numbers), concatenated.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::string all;
  (all.append(detail::text(parts)), ...);
  return all;
}

/// Throws a PlacedError that reads "<where>: <parts…>", as in
/// fail(path, "image 7: expected 3073 bytes, found 1200; is it truncated?").
template <class... Parts>
[[noreturn]] void fail(const std::filesystem::path& where, const Parts&... parts) {
  throw PlacedError(join(where, ": ", parts...));
}

/// Throws a PlacedError for a failed system call: "<where>: <what>: <text of error_number>".
[[noreturn]] void fail_errno(const std::filesystem::path& where, std::string_view what,
                             int error_number);

}  // namespace feedrate::formats
