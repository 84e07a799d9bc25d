#pragma once
// Conditions by which a plan leaves points out.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// A key of a point that a condition may name.
struct ConditionKey {
  std::string_view name;
  bool is_number;
};
std::span<const ConditionKey> condition_keys();

/// Allowed values by key. A point fits when it has every key, with one of the key's values.
struct Condition {
  struct Term {
    std::string key;                  // one of condition_keys()
    std::vector<std::string> values;  // numbers as digits
  };
  std::vector<Term> terms;

  bool fits(const Row& point) const;
  /// Like fits(), but ignores keys that the point lacks (supply: network; demand: threads, decode,
  /// cache).
  bool allows(const Row& point) const;
  std::string text() const;  // "network vgg16, threads 0 or 1"
};

/// A rule of a plan: points that fit `when` are measured only where `then` allows them.
struct Only {
  Condition when;
  Condition then;
};

}  // namespace feedrate::tools
