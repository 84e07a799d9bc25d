#include "tools/bench/condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace feedrate::tools {
namespace {

using Value = std::optional<std::string>;

Value digits(const std::optional<unsigned>& number) {
  return number ? Value(std::to_string(*number)) : Value();
}

struct Known {
  ConditionKey key;
  Value (*of)(const Run&);
};

constexpr std::array known{
    Known{{"kind", false}, [](const Run& run) { return Value(run.kind); }},
    Known{{"tool", false}, [](const Run& run) { return Value(run.tool); }},
    Known{{"dataset", false}, [](const Run& run) { return Value(run.dataset); }},
    Known{{"format", false}, [](const Run& run) { return Value(run.format); }},
    Known{{"codec", false}, [](const Run& run) { return Value(run.codec); }},
    Known{{"recipe", false}, [](const Run& run) { return Value(run.recipe); }},
    Known{{"network", false}, [](const Run& run) { return run.network; }},
    Known{{"device", false}, [](const Run& run) { return run.device; }},
    Known{{"precision", false}, [](const Run& run) { return run.precision; }},
    Known{{"batch", true}, [](const Run& run) { return digits(run.batch); }},
    Known{{"cache", false}, [](const Run& run) { return Value(run.cache); }},
    Known{{"threads", true}, [](const Run& run) { return digits(run.threads); }},
};

constexpr auto keys = [] {
  std::array<ConditionKey, known.size()> all{};
  for (std::size_t i = 0; i < known.size(); ++i) all[i] = known[i].key;
  return all;
}();

Value value_of(const Run& point, std::string_view key) {
  const auto* found = std::ranges::find(known, key, [](const Known& one) { return one.key.name; });
  return found == known.end() ? Value() : found->of(point);
}

bool among(const std::string& value, const std::vector<std::string>& values) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::span<const ConditionKey> condition_keys() { return keys; }

bool Condition::fits(const Run& point) const {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Value value = value_of(point, term.key);
    return value && among(*value, term.values);
  });
}

bool Condition::allows(const Run& point) const {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Value value = value_of(point, term.key);
    return !value || among(*value, term.values);
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
