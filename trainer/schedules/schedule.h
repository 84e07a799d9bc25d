#pragma once
// Learning-rate policies, by Caffe's names and formulas, and the cosine of Loshchilov and Hutter
// (2016) without restarts. A pure function of the step.

#include <cstdint>
#include <string>
#include <vector>

namespace feedrate::trainer {

struct Schedule {
  std::string policy = "fixed";  // fixed | step | multistep | inv | poly | exp | sigmoid | cosine
  double rate = 0.01;            // base
  double gamma = 0;
  double power = 0;
  std::uint64_t step_size = 0;
  std::vector<std::uint64_t> steps{};  // multistep
  std::uint64_t max_steps = 0;         // poly, cosine
  /// The number of warm-up steps: before it, step s uses (s + 1) / warmup of the policy's rate. A
  /// cosine starts where the warm-up ends.
  std::uint64_t warmup = 0;

  /// The rate at `step` (0-based). Throws Error for an unknown policy.
  double at(std::uint64_t step) const;

 private:
  double policy_at(std::uint64_t step) const;
};

}  // namespace feedrate::trainer
