#pragma once
// Conditions of a plan: which points it leaves out.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/measure/row.h"

namespace feedrate::tools {

/// Keys of a point that a condition may name.
struct ConditionKey {
  std::string_view name;
  bool is_number;
};
std::span<const ConditionKey> condition_keys();

/// Values that keys may have: a point fits when it has every key, with one of its values.
struct Condition {
  struct Term {
    std::string key;                  // one of condition_keys()
    std::vector<std::string> values;  // numbers as digits
  };
  std::vector<Term> terms;

  bool fits(const Run& point) const;
  /// The same, but what a point has not (supply no network, demand no threads) is not asked for.
  bool allows(const Run& point) const;
  std::string text() const;  // "network vgg16, threads 0 or 1"
};

/// A point that fits `when` stays only where `then` allows it.
struct Only {
  Condition when;
  Condition then;
};

}  // namespace feedrate::tools
