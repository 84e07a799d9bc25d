#include "tools/lab/bench/condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "tools/lab/measure/row_fields.h"

namespace feedrate::tools {
namespace {

using Value = std::optional<std::string>;

Value as_text(const std::string& text) { return text; }
Value as_text(std::uint32_t number) { return std::to_string(number); }
template <class T>
Value as_text(const std::optional<T>& value) {
  return value ? as_text(*value) : Value();
}

Value value_of(const Row& point, std::string_view key) {
  // A trainer alone takes its batches from memory.
  if (is_trainer_alone(point.kind) && (key == "decode" || key == "cache")) return {};
  Value found;
  for_each_point_field(point, [&](std::string_view name, const auto& value, const About&) {
    if (name == key) found = as_text(value);
  });
  return found;
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::span<const ConditionKey> condition_keys() {
  static const std::vector<ConditionKey> keys = [] {
    std::vector<ConditionKey> all;
    const Row row;
    for_each_point_field(row, [&](std::string_view name, const auto& value, const About&) {
      all.push_back({name, type_of(value).kind == ValueType::Kind::whole});
    });
    return all;
  }();
  return keys;
}

bool Condition::fits(const Row& point) const {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Value value = value_of(point, term.key);
    return value && contains(term.values, *value);
  });
}

bool Condition::allows(const Row& point) const {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Value value = value_of(point, term.key);
    return !value || contains(term.values, *value);
  });
}

std::string Condition::text() const {
  std::vector<std::string> parts;
  for (const Term& term : terms) {
    parts.push_back(fmt::format("{} {}", term.key, fmt::join(term.values, " or ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace feedrate::tools
