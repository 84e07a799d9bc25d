#pragma once
// Learning-rate policies, by Caffe's names and formulas. A pure function of the step.

#include <cstdint>
#include <string>
#include <vector>

namespace feedrate {

struct Schedule {
  std::string policy = "fixed";  // fixed | step | multistep | inv | poly | exp | sigmoid
  double rate = 0.01;            // base
  double gamma = 0;
  double power = 0;
  std::uint64_t step_size = 0;
  std::vector<std::uint64_t> steps{};  // multistep
  std::uint64_t max_steps = 0;         // poly

  /// The rate at `step` (0-based). Throws Error for an unknown policy.
  double at(std::uint64_t step) const;
};

}  // namespace feedrate
