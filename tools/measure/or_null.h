#pragma once
// What is not known is null in JSON, never 0 or "", and the way back. `Json` is the JSON library's
// object, which no header here names.

#include <optional>
#include <string>

namespace feedrate::tools {

template <class Json, class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class Json>
Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// Nothing where the key is absent or null; a value of another type throws what the library throws.
template <class T, class Json>
std::optional<T> if_known(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->template get<T>();
}

}  // namespace feedrate::tools
