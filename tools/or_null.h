#pragma once
// What is not known is null in JSON, never 0 or "". `Json` is the JSON library's object, which no
// header here names.

#include <optional>
#include <string>

namespace feedrate {

template <class Json, class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class Json>
Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace feedrate
