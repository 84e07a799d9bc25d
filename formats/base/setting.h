#pragma once
// A setting: one fact sheet for a value that a user can choose, from which the shell, the plans of
// benchmarks, Python and C make their names, checks and help. A folder that has settings keeps them
// in one table, a function
//
//   template <class Settings, class Visit>
//   void for_each_setting(Settings& settings, const Visit& visit);
//
// which calls visit(row, member) for each of them. The type of the member says what kind of value it
// is, its initialiser is the default. Pure functions; any thread.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {

/// What values a setting takes.
enum class SettingKind : std::uint8_t {
  flag,    // bool
  whole,   // unsigned integers
  real,    // double
  word,    // an enum, whose enumerators are the words of its row, in their order
  name,    // std::string
  path,    // std::filesystem::path
  reals,   // std::vector<double>
  special  // another type, read by its own read_value()
};

/// Which real numbers a setting takes; never nan or infinity.
struct RealRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   // without `low` itself
  bool below_high = false;  // without `high` itself

  bool holds(double value) const;
};
inline constexpr RealRange any_number{};
inline constexpr RealRange above_zero{.low = 0, .above_low = true};
inline constexpr RealRange zero_or_more{.low = 0};
inline constexpr RealRange below_one{.low = 0, .high = 1, .below_high = true};

struct Setting {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  std::string_view name;        // "bad_budget"
  std::string_view unit{};      // what help calls a value: "N", "RATE"; "" for a flag
  std::string_view sentence{};  // what it does, without a full stop; of a flag: when it is true
  std::string_view detail{};    // more of it, where there is room; sentences, with full stops
  std::uint64_t min = 0;        // of whole numbers
  std::uint64_t max = unlimited;
  RealRange range{};                           // of real ones
  std::span<const std::string_view> words{};   // that it takes
  std::vector<std::string_view> (*names)(){};  // of a registry, to offer; `check` may take others
  void (*check)(std::string_view name){};      // throws Error for a name that is unknown
  std::string_view list{};                     // of 'feedrate list' that explains the names
  std::string_view nothing{};                  // the word for no value: "auto"
  std::string_view without{};  // what a flag does when false; the shell then has only --no-<name>
  std::string_view shell{};    // the shell's name where it is not `name`: "from"

  // What typed() fills in.
  SettingKind kind = SettingKind::special;
  bool optional = false;  // may have no value
};

/// How a caller writes settings and values, for messages.
enum class Spelling : std::uint8_t {
  shell,   // --pixels f32
  python,  // pixels='f32'
  c,       // pixels = FEEDRATE_PIXELS_F32
  json     // "pixels": "f32"
};
/// The name as that caller writes it.
std::string spelled(const Setting& row, Spelling by);
/// With one of these words: "--pixels f32 or f16".
std::string spelled(const Setting& row, std::initializer_list<std::string_view> words, Spelling by);
/// A word alone: "f32", "'f32'", "FEEDRATE_PIXELS_F32".
std::string spelled_word(const Setting& row, std::string_view word, Spelling by);

/// No value: "auto", "None", "FEEDRATE_THREADS_AUTO"; "" where the caller cannot write that.
std::string spelled_nothing(const Setting& row, Spelling by);

/// What a value has to be: "a whole number from 1 to 65536", "u8, f32 or f16".
std::string expected(const Setting& row, Spelling by = Spelling::shell);
/// "expected a whole number from 1 to 65536, found 'x'": why a text or a value is refused. `found` is
/// shown as it is.
std::string refusal(const Setting& row, std::string_view found, Spelling by = Spelling::shell);

namespace detail {

template <class T>
struct Inner {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Inner<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

template <class T>
constexpr SettingKind kind_of() {
  if constexpr (std::is_same_v<T, bool>) return SettingKind::flag;
  if constexpr (std::is_unsigned_v<T>) return SettingKind::whole;
  if constexpr (std::is_same_v<T, double>) return SettingKind::real;
  if constexpr (std::is_enum_v<T>) return SettingKind::word;
  if constexpr (std::is_same_v<T, std::string>) return SettingKind::name;
  if constexpr (std::is_same_v<T, std::filesystem::path>) return SettingKind::path;
  if constexpr (std::is_same_v<T, std::vector<double>>) return SettingKind::reals;
  return SettingKind::special;
}

// The value that a text means; throws Error with the refusal.
bool read_flag(const Setting& row, std::string_view text);
std::uint64_t read_whole(const Setting& row, std::string_view text);
double read_real(const Setting& row, std::string_view text);
std::size_t read_word(const Setting& row, std::string_view text);
std::string read_name(const Setting& row, std::string_view text);
std::vector<double> read_reals(const Setting& row, std::string_view text);

// Throws Error with the refusal of a value.
void expect_whole(const Setting& row, std::uint64_t value);
void expect_real(const Setting& row, double value);
void expect_name(const Setting& row, const std::string& value);

std::string real_text(double value);

}  // namespace detail

/// The row with what the member's type adds to it.
template <class Member>
constexpr Setting typed(Setting row, const Member&) {
  using Value = typename detail::Inner<Member>::type;
  row.kind = detail::kind_of<Value>();
  row.optional = detail::Inner<Member>::optional;
  if constexpr (detail::kind_of<Value>() == SettingKind::whole) {
    row.max = std::min<std::uint64_t>(row.max, std::numeric_limits<Value>::max());
  }
  return row;
}

/// Sets the value from its text, as a shell gives it. Throws Error, with the refusal, for a text that
/// the row does not take.
template <class Value>
void read_value(const Setting& row, std::string_view text, Value& value) {
  constexpr SettingKind kind = detail::kind_of<Value>();
  static_assert(kind != SettingKind::special, "a type of its own needs a read_value() of its own");
  if constexpr (kind == SettingKind::flag) {
    value = detail::read_flag(row, text);
  } else if constexpr (kind == SettingKind::whole) {
    value = static_cast<Value>(detail::read_whole(row, text));
  } else if constexpr (kind == SettingKind::real) {
    value = detail::read_real(row, text);
  } else if constexpr (kind == SettingKind::word) {
    value = static_cast<Value>(detail::read_word(row, text));
  } else if constexpr (kind == SettingKind::reals) {
    value = detail::read_reals(row, text);
  } else {
    value = detail::read_name(row, text);
  }
}
template <class Value>
void read_value(const Setting& row, std::string_view text, std::optional<Value>& value) {
  if (!row.nothing.empty() && text == row.nothing) {
    value.reset();
  } else {
    Value read{};
    read_value(row, text, read);
    value = std::move(read);
  }
}

/// Throws Error, with the refusal, unless the row takes the value.
template <class Value>
void expect_value(const Setting& row, const Value& value) {
  constexpr SettingKind kind = detail::kind_of<Value>();
  if constexpr (kind == SettingKind::whole) detail::expect_whole(row, value);
  if constexpr (kind == SettingKind::real) detail::expect_real(row, value);
  if constexpr (kind == SettingKind::name) detail::expect_name(row, value);
  if constexpr (kind == SettingKind::reals) {
    for (const double one : value) detail::expect_real(row, one);
  }
}
template <class Value>
void expect_value(const Setting& row, const std::optional<Value>& value) {
  if (value) expect_value(row, *value);
}

/// The value as read_value() takes it; "" for no value and for an empty list.
template <class Value>
std::string value_text(const Setting& row, const Value& value) {
  constexpr SettingKind kind = detail::kind_of<Value>();
  if constexpr (kind == SettingKind::flag) {
    return value ? "true" : "false";
  } else if constexpr (kind == SettingKind::whole) {
    return std::to_string(value);
  } else if constexpr (kind == SettingKind::real) {
    return detail::real_text(value);
  } else if constexpr (kind == SettingKind::word) {
    return std::string(row.words[static_cast<std::size_t>(value)]);
  } else if constexpr (kind == SettingKind::path) {
    return value.string();
  } else if constexpr (kind == SettingKind::reals) {
    std::string text;
    for (const double one : value) text += (text.empty() ? "" : ",") + detail::real_text(one);
    return text;
  } else {
    return value;
  }
}
template <class Value>
std::string value_text(const Setting& row, const std::optional<Value>& value) {
  return value ? value_text(row, *value) : std::string(row.nothing);
}

/// Throws Error, with the refusal, unless the row takes the text; `row` is typed.
void expect_text(const Setting& row, std::string_view text);

/// The row of one member of `settings`.
template <class Settings, class Member>
Setting row_of(const Settings& settings, const Member& member) {
  Setting found;
  for_each_setting(settings, [&](const Setting& row, const auto& other) {
    const bool same = static_cast<const void*>(&other) == static_cast<const void*>(&member);
    if (same) found = typed(row, other);
  });
  return found;
}

/// A row tied to the member that it sets, whatever the member's type.
struct BoundSetting {
  Setting row;
  const void* member = nullptr;
  std::string value;                           // at first: the default; "": none
  std::function<void(std::string_view)> read;  // as read_value()
};
template <class Member>
BoundSetting bound(const Setting& row, Member& member) {
  const Setting full = typed(row, member);
  return {full, &member, value_text(full, member),
          [full, &member](std::string_view text) { read_value(full, text, member); }};
}
/// A row tied to a list of values of its kind.
struct BoundList {
  Setting row;
  std::vector<std::string> values;                         // at first: the default
  std::function<void(std::span<const std::string>)> read;  // replaces all of them
};
template <class Value>
BoundList bound_list(const Setting& row, std::vector<Value>& list) {
  BoundList all{typed(row, Value{}), {}, {}};
  for (const Value& value : list) all.values.push_back(value_text(all.row, value));
  all.read = [row = all.row, &list](std::span<const std::string> texts) {
    std::vector<Value> read(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) read_value(row, texts[i], read[i]);
    list = std::move(read);
  };
  return all;
}

/// All settings, in the order of their table. `settings` outlives the result.
template <class Settings>
std::vector<BoundSetting> bound_settings(Settings& settings) {
  std::vector<BoundSetting> all;
  for_each_setting(settings,
                   [&](const Setting& row, auto& member) { all.push_back(bound(row, member)); });
  return all;
}

/// Throws Error, which names the setting as the caller does, unless every row takes its value.
template <class Settings>
void expect_values(const Settings& settings, Spelling by) {
  for_each_setting(settings, [&](const Setting& row, const auto& member) {
    try {
      expect_value(typed(row, member), member);
    } catch (const Error& problem) {
      throw Error(join(spelled(row, by), ": ", problem.what()));
    }
  });
}

}  // namespace feedrate::formats
