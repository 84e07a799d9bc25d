#pragma once
// Python's values as values of settings, and the other way round. With the GIL.

#include <nanobind/nanobind.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/base/setting.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

/// A value as Python shows it, shortened; whatever its repr() holds.
std::string shown(nanobind::handle value);
/// A str as UTF-8. Nothing where it is none, or has lone surrogates, which UTF-8 cannot write: names in
/// Python may have them.
std::optional<std::string> utf8(nanobind::handle value);

// take() sets a value from Python's. It throws Error, with the refusal, for one that the row does not
// take, and WrongType for one of another kind.
void take(const formats::Setting& row, nanobind::handle given, bool& value);
/// A whole number is an int, or anything that stands for one, such as numpy.int64.
void take(const formats::Setting& row, nanobind::handle given, std::uint64_t& value);
void take(const formats::Setting& row, nanobind::handle given, double& value);
void take(const formats::Setting& row, nanobind::handle given, std::string& value);
/// One number, or several.
void take(const formats::Setting& row, nanobind::handle given, std::vector<double>& value);
void take(const formats::Setting& row, nanobind::handle given, std::vector<std::uint64_t>& value);
/// The number of a word among the row's.
std::size_t word_of(const formats::Setting& row, nanobind::handle given);

template <std::unsigned_integral Value>
void take(const formats::Setting& row, nanobind::handle given, Value& value) {
  std::uint64_t whole = 0;
  take(row, given, whole);
  value = static_cast<Value>(whole);
}
template <class Value>
requires std::is_enum_v<Value>
void take(const formats::Setting& row, nanobind::handle given, Value& value) {
  value = static_cast<Value>(word_of(row, given));
}
/// None is no value, or the row's word for it.
bool stands_for_nothing(const formats::Setting& row, nanobind::handle given);
template <class Value>
void take(const formats::Setting& row, nanobind::handle given, std::optional<Value>& value) {
  const bool nothing = stands_for_nothing(row, given);
  Value read{};
  if (!nothing) take(row, given, read);
  value = nothing ? std::nullopt : std::optional(std::move(read));
}

/// Reads something from Python's values. What that throws begins with `name`.
template <class Read>
void about(std::string_view name, const Read& read) {
  try {
    read();
  } catch (const WrongType& error) {
    throw WrongType(formats::join(name, ": ", error.what()));
  } catch (const formats::Error& error) {
    throw formats::Error(formats::join(name, ": ", error.what()));
  }
}
/// Sets the value from Python's. Throws Error, which begins with the name of the setting.
template <class Value>
void read_python(const formats::Setting& row, nanobind::handle given, Value& value) {
  about(spelled(row, formats::Spelling::python), [&] { take(typed(row, value), given, value); });
}

/// Throws TypeError, naming the nearest setting, for a keyword that is none of `names`.
void expect_known(const nanobind::kwargs& given, const std::vector<std::string_view>& names);
/// Sets from keyword arguments the settings that each(settings, visit) visits. Throws what read_python()
/// and expect_known() throw.
template <class Settings, class Each>
Settings read_keywords(const nanobind::kwargs& given, Settings settings, const Each& each) {
  std::vector<std::string_view> names;
  each(settings, [&](const formats::Setting& row, auto& value) {
    names.push_back(row.name);
    const nanobind::str name = text(row.name);
    if (given.contains(name)) read_python(row, given[name], value);
  });
  expect_known(given, names);
  return settings;
}

/// The value as read_python() takes it.
template <class Value>
nanobind::object python_value(const formats::Setting& row, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return python_value(row, std::string(row.words[static_cast<std::size_t>(value)]));
  } else if constexpr (std::same_as<Value, std::vector<double>>) {
    nanobind::list all;
    for (const double one : value) all.append(one);
    return nanobind::tuple(all);
  } else if constexpr (std::same_as<Value, std::string>) {
    return nanobind::str(value.data(), value.size());
  } else {
    return nanobind::cast(value);
  }
}
template <class Value>
nanobind::object python_value(const formats::Setting& row, const std::optional<Value>& value) {
  if (value) return python_value(row, *value);
  return row.nothing.empty() ? nanobind::none() : python_value(row, std::string(row.nothing));
}

/// What Python is to know of a setting, which is typed.
nanobind::dict described(const formats::Setting& row, const nanobind::object& usual);

/// The type as Python's annotations write it: "Literal['u8', 'f32', 'f16']", "int | None".
std::string python_type(const formats::Setting& row);

}  // namespace feedrate::tools
