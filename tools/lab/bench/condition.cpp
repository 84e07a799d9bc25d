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
Value loaded(const Run& run, const std::string& how) {
  return is_trainer_alone(run.kind) ? Value() : Value(how);
}

struct KeyAccess {
  ConditionKey key;
  Value (*of)(const Run&);
};

constexpr std::array accesses{
    KeyAccess{{"kind", false}, [](const Run& run) { return Value(run.kind); }},
    KeyAccess{{"tool", false}, [](const Run& run) { return Value(run.tool); }},
    KeyAccess{{"dataset", false}, [](const Run& run) { return Value(run.dataset); }},
    KeyAccess{{"format", false}, [](const Run& run) { return Value(run.format); }},
    KeyAccess{{"codec", false}, [](const Run& run) { return Value(run.codec); }},
    KeyAccess{{"decode", false}, [](const Run& run) { return loaded(run, run.decode); }},
    KeyAccess{{"recipe", false}, [](const Run& run) { return Value(run.recipe); }},
    KeyAccess{{"network", false}, [](const Run& run) { return run.network; }},
    KeyAccess{{"device", false}, [](const Run& run) { return run.device; }},
    KeyAccess{{"precision", false}, [](const Run& run) { return run.precision; }},
    KeyAccess{{"batch", true}, [](const Run& run) { return digits(run.batch); }},
    KeyAccess{{"cache", false}, [](const Run& run) { return loaded(run, run.cache); }},
    KeyAccess{{"threads", true}, [](const Run& run) { return digits(run.threads); }},
};

constexpr auto keys = [] {
  std::array<ConditionKey, accesses.size()> all{};
  for (std::size_t i = 0; i < accesses.size(); ++i) all[i] = accesses[i].key;
  return all;
}();

Value value_of(const Run& point, std::string_view key) {
  const auto* found =
      std::ranges::find(accesses, key, [](const KeyAccess& one) { return one.key.name; });
  return found == accesses.end() ? Value() : found->of(point);
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::span<const ConditionKey> condition_keys() { return keys; }

bool Condition::fits(const Run& point) const {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Value value = value_of(point, term.key);
    return value && contains(term.values, *value);
  });
}

bool Condition::allows(const Run& point) const {
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
