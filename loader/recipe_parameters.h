#pragma once
// The numbers of a recipe that a user may change: imagenet-train:size=160:scale=0.25-1:flip=0.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::loader {

/// From `from` to `to`; a single number is both.
struct NumberRange {
  double from = 0, to = from;
};

/// A row of the numbers that a recipe or a part of recipes lets a user change.
struct Parameter {
  // 160 · 0.5 or 1/2 · 3/4-4/3 · bilinear
  enum class Type : std::uint8_t { whole, number, range, word };

  std::string_view name;
  Type type;
  double low, high;                           // of the number, or of both ends of the range
  NumberRange by_default;                     // where the user gives none
  std::span<const std::string_view> words{};  // whose numbers, from 0, are the values
};

constexpr Parameter word_parameter(std::string_view name, std::span<const std::string_view> words,
                                   double by_default = 0) {
  return {name, Parameter::Type::word, 0, static_cast<double>(words.size()) - 1, {by_default},
          words};
}

/// The values of these parameters: those that were given, and the defaults of the others.
class ParameterValues {
 public:
  /// The defaults. `known` outlives the values.
  explicit ParameterValues(std::span<const Parameter> known) : known_(known) {}
  /// Reads "size=160:flip=0". Throws Error that calls the owner `recipe` for what is no parameter
  /// of it or has no such value.
  ParameterValues(std::string_view recipe, std::span<const Parameter> known, std::string_view text);

  /// By a name in `known`.
  std::uint32_t whole(std::string_view name) const;
  double number(std::string_view name) const { return range(name).from; }
  NumberRange range(std::string_view name) const;
  bool is_given(std::string_view name) const { return given_.contains(name); }
  /// The values that were given, in the order of `known`: the same text for the same values.
  const std::string& text() const { return text_; }

 private:
  std::span<const Parameter> known_;
  std::map<std::string_view, NumberRange> given_;  // by the names in `known`
  std::string text_;
};

}  // namespace feedrate::loader
