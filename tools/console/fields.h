#pragma once
// One description of each result. `for_each_field(value, field)` calls `field(key, member, about)`
// for every key of the struct's JSON object, in order; what is written and read
// (json_fields.hpp), the tables and the JSON Schema of 'feedrate schema' all come from it.
//
// The member's type says what the value is: a text, a number, a list, a struct that has fields
// itself. An optional that is empty is null or, if `about` says when the key is absent, left out.

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/base/setting.h"

namespace feedrate::tools {

/// The unit of texts that are SHA-256 in hexadecimal digits.
inline constexpr std::string_view sha256_unit = "SHA-256";

struct Unit {
  std::string_view text;
};
/// When the value is null.
struct Null {
  std::string_view text;
};
/// When the key is left out; of input, what holds then. Beside a Null, an optional is written as null, and the
/// key may lack in input only; an optional of an optional is left out where the outer one is empty.
struct Absent {
  std::string_view text;
};
/// Decimal places that are written.
struct Digits {
  int number;
};
/// The setting that says which values are taken. It outlives the description.
struct Limits {
  const formats::Setting& row;
};

/// What a key means, beside its type.
class About {
 public:
  template <class... More>
  constexpr About(std::string_view what, const More&... more) : meaning(what) {
    (add(more), ...);
  }

  std::string_view meaning;
  std::string_view unit{};
  std::string_view null{};
  std::string_view absent{};
  int digits = -1;                        // -1: all
  const formats::Setting* row = nullptr;  // that limits the value, or each in a list

 private:
  constexpr void add(Unit more) { unit = more.text; }
  constexpr void add(Null more) { null = more.text; }
  constexpr void add(Absent more) { absent = more.text; }
  constexpr void add(Digits more) { digits = more.number; }
  constexpr void add(Limits more) { row = &more.row; }
};

/// The name under which a struct is described, and what it is. Without a name, a struct is described
/// where it stands.
struct Heading {
  std::string_view name;
  std::string_view about;
};
template <class T>
inline constexpr Heading heading_of{};

/// A value, or a list of such values: how a plan may give them.
template <class T>
struct OneOrMore {
  T value{};
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_one_or_more = false;
template <class T>
inline constexpr bool is_one_or_more<OneOrMore<T>> = true;

template <class T>
concept IsText = std::convertible_to<const T&, std::string_view>;
template <class T>
concept IsMap = requires {
  typename T::mapped_type;
};

/// `value`, if it is known.
template <class T>
std::optional<T> only_if(bool known, T value) {
  return known ? std::optional<T>(std::move(value)) : std::nullopt;
}
/// Nothing for "".
inline std::optional<std::string> unless_empty(std::string_view text) {
  return only_if(!text.empty(), std::string(text));
}

struct Key;

/// The keys of an object, in order.
struct Description {
  Heading heading;
  std::vector<Key> keys;
};

struct ValueType {
  enum class Kind : std::uint8_t { text, whole, number, flag, list, map, one_or_more, object };
  Kind kind = Kind::text;
  std::shared_ptr<const ValueType> of{};        // a list, a map, one or more
  std::shared_ptr<const Description> object{};  // an object
};

struct Key {
  std::string_view name;
  ValueType type;
  About about;
  bool is_optional = false;  // the member may be empty
};

template <class T>
Description description_of(const T& value);

template <class T>
ValueType type_of(const T& value) {
  using Kind = ValueType::Kind;
  const auto each = [](Kind kind, ValueType type) {
    return ValueType{kind, std::make_shared<const ValueType>(std::move(type)), {}};
  };
  if constexpr (is_optional<T>) {
    return type_of(typename T::value_type{});
  } else if constexpr (is_one_or_more<T>) {
    return each(Kind::one_or_more, type_of(value.value));
  } else if constexpr (std::same_as<T, bool>) {
    return {Kind::flag};
  } else if constexpr (std::integral<T>) {
    return {Kind::whole};
  } else if constexpr (std::floating_point<T>) {
    return {Kind::number};
  } else if constexpr (IsText<T>) {
    return {Kind::text};
  } else if constexpr (IsMap<T>) {
    return each(Kind::map, type_of(typename T::mapped_type{}));
  } else if constexpr (std::ranges::range<T>) {
    return each(Kind::list, type_of(std::ranges::range_value_t<T>{}));
  } else {
    return {Kind::object, {}, std::make_shared<const Description>(description_of(value))};
  }
}

/// Collects what the fields say of themselves.
class Describe {
 public:
  explicit Describe(std::vector<Key>& keys) : keys_(keys) {}

  template <class T>
  void operator()(const char* key, const T& value, const About& about) const {
    keys_.push_back({key, type_of(value), about, is_optional<T>});
  }

 private:
  std::vector<Key>& keys_;
};

template <class T>
Description description_of(const T& value) {
  Description description{heading_of<T>, {}};
  for_each_field(value, Describe(description.keys));
  return description;
}

}  // namespace feedrate::tools
