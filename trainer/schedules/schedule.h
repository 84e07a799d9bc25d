#pragma once
// Learning-rate schedules: a policy, which is a formula, and its numbers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"

namespace feedrate::trainer {

/// A policy ignores the numbers that its formula does not use.
struct Schedule {
  std::string policy = "fixed";  // its name
  double rate = 0.01;            // base
  double gamma = 0;
  double power = 0;
  std::uint64_t step_size = 0;
  std::vector<std::uint64_t> steps{};  // multistep
  std::uint64_t max_steps = 0;         // poly, cosine
  /// The number of warm-up steps: before it, step s uses (s + 1) / warmup of the policy's rate. A
  /// cosine starts where the warm-up ends.
  std::uint64_t warmup = 0;
};

class Policy final : public formats::Kind {
 public:
  /// Where the numbers of the formula come from, besides the base rate.
  enum class Numbers : std::uint8_t { none, recipe, length_of_training };
  struct Rule {
    double (*rate)(const Schedule& schedule, std::uint64_t step);  // without warm-up
    Numbers numbers = Numbers::none;
    std::uint64_t Schedule::*positive = nullptr;  // a number that must not be 0
    std::string_view positive_name{};             // "a step size"
  };
  Policy(std::string_view name, std::string_view summary, const Rule& rule)
      : Kind(name, summary), rule_(rule) {}
  const Rule& rule() const { return rule_; }

 private:
  Rule rule_;
};
std::span<const Policy* const> policies();
const Policy& policy(std::string_view name);

/// The rate of every step: a pure function.
class LearningRate {
 public:
  /// Throws Error for an unknown policy, or where the schedule lacks a number that it needs.
  explicit LearningRate(Schedule schedule);
  /// At `step`, from 0.
  double at(std::uint64_t step) const;
  const Schedule& schedule() const { return schedule_; }

 private:
  Schedule schedule_;
  const Policy& policy_;
};

}  // namespace feedrate::trainer
