#pragma once
// Writes and reads the JSON of structs that describe their fields (fields.h).

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "tools/console/fields.h"
#include "tools/console/text.h"

namespace feedrate::tools {

template <class T>
nlohmann::ordered_json json_of(const T& value, int digits = -1);

/// Adds each field to an object.
class WriteJson {
 public:
  explicit WriteJson(nlohmann::ordered_json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, const T& value, const About& about) const {
    if constexpr (is_optional<T>) {
      if (value) {
        object_[key] = json_of(*value, about.digits);
      } else if (about.absent.empty() ||
                 (!about.null.empty() && !is_optional<typename T::value_type>)) {
        object_[key] = nullptr;
      }
    } else {
      object_[key] = json_of(value, about.digits);
    }
  }

 private:
  nlohmann::ordered_json& object_;
};

/// Numbers are rounded to `digits` decimal places, unless it is -1.
template <class T>
nlohmann::ordered_json json_of(const T& value, int digits) {
  using nlohmann::ordered_json;
  if constexpr (is_optional<T>) {
    return value ? json_of(*value, digits) : ordered_json();
  } else if constexpr (std::floating_point<T>) {
    return digits < 0 ? ordered_json(value) : ordered_json(rounded(value, digits));
  } else if constexpr (std::integral<T>) {
    return value;
  } else if constexpr (IsText<T>) {
    return std::string_view(value);
  } else if constexpr (IsMap<T>) {
    ordered_json object = ordered_json::object();
    for (const auto& [key, one] : value) {
      if constexpr (IsText<typename T::key_type>) {
        object[key] = json_of(one, digits);
      } else {
        object[std::to_string(key)] = json_of(one, digits);
      }
    }
    return object;
  } else if constexpr (std::ranges::range<T>) {
    ordered_json list = ordered_json::array();
    for (const auto& one : value) list.push_back(json_of(one, digits));
    return list;
  } else {
    ordered_json object = ordered_json::object();
    for_each_field(value, WriteJson(object));
    return object;
  }
}

/// In one line. Names that are not UTF-8 have the replacement character in them.
inline std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}
/// As a command prints it.
inline std::string json_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}
template <class T>
std::string json_text_of(const T& value) {
  return json_text(json_of(value));
}

/// Takes the members of a struct from an object. It accepts only the member's own type and range
/// (the library would convert -1 to four billion, and true to 1) and, of numbers, none below 0.
/// Throws Error for another value and where a key is missing that is never absent.
class ReadJson {
 public:
  explicit ReadJson(const nlohmann::ordered_json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, T& value, const About& about) const {
    const auto found = object_.find(key);
    if (found != object_.end()) {
      take(key, *found, value);
    } else if (about.absent.empty()) {
      throw formats::Error(formats::join("lacks the key '", key, "'"));
    }
  }

 private:
  using Json = nlohmann::ordered_json;

  [[noreturn]] static void refuse(const char* key, std::string_view expected, const Json& found) {
    throw formats::Error(formats::join(key, ": expected ", expected, ", found ", found.dump()));
  }

  template <class T>
  static void take(const char* key, const Json& found, T& value) {
    if constexpr (is_optional<T>) {
      if (!found.is_null()) take(key, found, value.emplace());
    } else if constexpr (std::same_as<T, std::string>) {
      if (!found.is_string()) refuse(key, "a text", found);
      value = found.get<std::string>();
    } else if constexpr (std::same_as<T, bool>) {
      if (!found.is_boolean()) refuse(key, "true or false", found);
      value = found.get<bool>();
    } else if constexpr (std::floating_point<T>) {
      if (!found.is_number() || found.get<T>() < 0) refuse(key, "a number of at least 0", found);
      value = found.get<T>();
    } else if constexpr (std::unsigned_integral<T>) {
      constexpr T max = std::numeric_limits<T>::max();
      if (!found.is_number_unsigned() || found.get<std::uint64_t>() > max) {
        refuse(key, formats::join("a whole number from 0 to ", max), found);
      }
      value = found.get<T>();
    } else if constexpr (std::ranges::range<T>) {
      if (!found.is_array()) refuse(key, "a list of numbers", found);
      for (const Json& one : found) take(key, one, value.emplace_back());
    } else {
      if (!found.is_object()) refuse(key, "an object", found);
      for_each_field(value, ReadJson(found));
    }
  }

  const Json& object_;
};

}  // namespace feedrate::tools
