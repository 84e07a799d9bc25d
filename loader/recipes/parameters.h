#pragma once
// The numbers of a recipe that a user may change: imagenet-train:size=160:scale=0.25-1:flip=0.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loader/recipe.h"

namespace feedrate::loader {

struct Parameter {
  enum class Type : std::uint8_t { pixels, number, range };  // 160 · 0.5 or 1/2 · 3/4-4/3

  std::string_view name;
  Type type;
  double low, high;  // of the number, or of both ends of the range
};

struct NumberRange {
  double from, to;
};

/// The parameters that were given.
class ParameterValues {
 public:
  /// Reads "size=160:flip=0". Throws Error that calls the owner `recipe` for what is no parameter
  /// of it or has no such value.
  ParameterValues(std::string_view recipe, std::span<const Parameter> known, std::string_view text);

  std::uint32_t pixels(std::string_view name, std::uint32_t usual) const;
  double number(std::string_view name, double usual) const;
  NumberRange range(std::string_view name, NumberRange usual) const;
  /// The same text for the same values: in the order of the recipe's parameters.
  const std::string& text() const { return text_; }

 private:
  std::map<std::string_view, NumberRange> values_;  // by the names in `known`
  std::string text_;
};

/// A recipe that has parameters: makes one with other values than usual. `name` outlives it.
struct AdjustableRecipe {
  std::string_view recipe;
  std::span<const Parameter> parameters;
  std::unique_ptr<Recipe> (*make)(std::string_view name, const ParameterValues& values);
};

/// Whether an image with these random bits is mirrored, as happens to this share of them.
bool mirrors(std::uint64_t bits, double share);

}  // namespace feedrate::loader
