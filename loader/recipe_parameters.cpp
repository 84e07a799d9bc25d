#include "loader/recipe_parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "formats/base/kind.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using Type = Parameter::Type;

// The whole of `text` as 0.75 or 3/4; nothing when it is neither.
std::optional<double> number_in(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto above = number_in(text.substr(0, slash));
    const auto below = number_in(text.substr(slash + 1));
    if (!above || !below || *below == 0) return std::nullopt;
    return *above / *below;
  }
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] =
      std::from_chars(text.data(), last, value, std::chars_format::fixed);  // no "1e-3", no "inf"
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<NumberRange> value_in(const Parameter& parameter, std::string_view text) {
  if (parameter.type == Type::word) {
    const auto at = std::ranges::find(parameter.words, text);
    if (at == parameter.words.end()) return std::nullopt;
    const auto number = static_cast<double>(at - parameter.words.begin());
    return NumberRange{number, number};
  }
  // The first one may be a sign.
  const std::size_t dash =
      parameter.type == Type::range ? text.find('-', 1) : std::string_view::npos;
  const auto from = number_in(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : number_in(text.substr(dash + 1));
  if (!from || !to) return std::nullopt;
  return NumberRange{*from, *to};
}

// Without an exponent, as number_in() reads it.
std::string shortest(double value) {
  char text[1100];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed);
  return {text, error == std::errc() ? end : text};
}

std::string text_of(const Parameter& parameter, NumberRange value) {
  if (parameter.type == Type::word)
    return std::string(parameter.words[static_cast<std::size_t>(value.from)]);
  return parameter.type == Type::range ? join(shortest(value.from), "-", shortest(value.to))
                                       : shortest(value.from);
}

std::string expected(const Parameter& parameter) {
  if (parameter.type == Type::word) {
    std::string all;
    for (const std::string_view word : parameter.words)
      all += join(all.empty() ? "" : " or ", word);
    return all;
  }
  const char* const what = parameter.type == Type::whole    ? "a whole number from "
                           : parameter.type == Type::number ? "a number from "
                                                            : "FROM-TO, both from ";
  return join(what, shortest(parameter.low), " to ", shortest(parameter.high));
}

bool suits(const Parameter& parameter, NumberRange value) {
  if (!(parameter.low <= value.from && value.from <= value.to && value.to <= parameter.high))
    return false;
  return parameter.type != Type::whole || value.from == std::floor(value.from);
}

}  // namespace

ParameterValues::ParameterValues(std::string_view recipe, std::span<const Parameter> known,
                                 std::string_view text)
    : known_(known) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : known) names.push_back(parameter.name);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view setting = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
    const std::string_view name = setting.substr(0, setting.find('='));
    const auto found = std::ranges::find(known, name, &Parameter::name);
    if (found == known.end()) throw Error(unknown_kind(join("parameter of ", recipe), name, names));
    const std::string_view given = setting.substr(std::min(setting.size(), name.size() + 1));
    const auto value = value_in(*found, given);
    if (!value || !suits(*found, *value)) {
      throw Error(join("recipe ", recipe, ", ", name, ": expected ", expected(*found), ", found '",
                       given, "'"));
    }
    if (!given_.emplace(found->name, *value).second)
      throw Error(join("recipe ", recipe, ": ", name, " is given twice"));
  }
  for (const Parameter& parameter : known) {
    const auto at = given_.find(parameter.name);
    if (at == given_.end()) continue;
    text_ += join(text_.empty() ? "" : ":", parameter.name, "=", text_of(parameter, at->second));
  }
}

std::uint32_t ParameterValues::whole(std::string_view name) const {
  return static_cast<std::uint32_t>(number(name));
}

NumberRange ParameterValues::range(std::string_view name) const {
  const auto at = given_.find(name);
  if (at != given_.end()) return at->second;
  return std::ranges::find(known_, name, &Parameter::name)->by_default;
}

}  // namespace feedrate::loader
