#include "tools/lab/bench/condition.h"

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

// A trainer alone takes its batches from memory.
Value loaded(const Row& row, const std::string& how) {
  return is_trainer_alone(row.kind) ? Value() : Value(how);
}

struct KeyAccess {
  ConditionKey key;
  Value (*of)(const Row&);
};

constexpr std::array accesses{
    KeyAccess{{"kind", false}, [](const Row& row) { return Value(row.kind); }},
    KeyAccess{{"tool", false}, [](const Row& row) { return Value(row.tool); }},
    KeyAccess{{"dataset", false}, [](const Row& row) { return Value(row.dataset); }},
    KeyAccess{{"format", false}, [](const Row& row) { return Value(row.format); }},
    KeyAccess{{"codec", false}, [](const Row& row) { return Value(row.codec); }},
    KeyAccess{{"decode", false}, [](const Row& row) { return loaded(row, row.decode); }},
    KeyAccess{{"recipe", false}, [](const Row& row) { return Value(row.recipe); }},
    KeyAccess{{"network", false}, [](const Row& row) { return row.network; }},
    KeyAccess{{"device", false}, [](const Row& row) { return row.device; }},
    KeyAccess{{"precision", false}, [](const Row& row) { return row.precision; }},
    KeyAccess{{"batch", true}, [](const Row& row) { return digits(row.batch); }},
    KeyAccess{{"cache", false}, [](const Row& row) { return loaded(row, row.cache); }},
    KeyAccess{{"threads", true}, [](const Row& row) { return digits(row.threads); }},
};

constexpr auto keys = [] {
  std::array<ConditionKey, accesses.size()> all{};
  for (std::size_t i = 0; i < accesses.size(); ++i) all[i] = accesses[i].key;
  return all;
}();

Value value_of(const Row& point, std::string_view key) {
  const auto* found =
      std::ranges::find(accesses, key, [](const KeyAccess& one) { return one.key.name; });
  return found == accesses.end() ? Value() : found->of(point);
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::span<const ConditionKey> condition_keys() { return keys; }

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
