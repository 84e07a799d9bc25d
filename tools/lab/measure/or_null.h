#pragma once
// Maps unknown values to null in JSON (never 0 or "") and back. `Json` is the JSON library's value
// type, which this header does not include.

#include <optional>
#include <string>

#include "tools/console/text.h"

namespace feedrate::tools {

/// As a command prints it. Names that are not UTF-8 have the replacement character in them.
template <class Json>
std::string json_text(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// `value` where it means something.
template <class Json, class T>
Json null_unless(bool known, const T& value) {
  return known ? Json(value) : Json(nullptr);
}

template <class Json, class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// To so many places.
template <class Json>
Json or_null(const std::optional<double>& value, int digits) {
  return value ? Json(rounded(*value, digits)) : Json(nullptr);
}
template <class Json>
Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// Nothing where the key is absent or null. A value of another type throws the library's exception.
template <class T, class Json>
std::optional<T> if_known(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->template get<T>();
}

}  // namespace feedrate::tools
