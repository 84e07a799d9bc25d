#include "trainer/optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "formats/base/error.h"
#include "formats/base/kind.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

constexpr std::string_view policies[] = {"fixed", "step", "multistep", "inv",
                                         "poly",  "exp",  "sigmoid",   "cosine"};

std::uint64_t positive(std::string_view policy, std::string_view name, std::uint64_t value) {
  if (value == 0) throw Error(join("rate policy ", policy, ": needs ", name, " above 0"));
  return value;
}

}  // namespace

double Schedule::at(std::uint64_t step) const {
  const double rate_then = policy_at(step);
  if (step >= warmup) return rate_then;
  return rate_then * static_cast<double>(step + 1) / static_cast<double>(warmup);
}

double Schedule::policy_at(std::uint64_t step) const {
  const double t = static_cast<double>(step);
  if (policy == "fixed") return rate;
  if (policy == "step") {
    const std::uint64_t drops = step / positive(policy, "a step size", step_size);
    return rate * std::pow(gamma, static_cast<double>(drops));
  }
  if (policy == "multistep") {
    const auto drops =
        std::count_if(steps.begin(), steps.end(), [step](std::uint64_t at) { return at <= step; });
    return rate * std::pow(gamma, static_cast<double>(drops));
  }
  if (policy == "inv") return rate * std::pow(1 + gamma * t, -power);
  if (policy == "poly") {
    const double end = static_cast<double>(positive(policy, "a number of steps", max_steps));
    return rate * std::pow(std::max(0.0, 1 - t / end), power);
  }
  if (policy == "cosine") {
    const std::uint64_t end = positive(policy, "a number of steps", max_steps);
    if (step <= warmup) return rate;
    const double done =
        end > warmup ? static_cast<double>(step - warmup) / static_cast<double>(end - warmup) : 1;
    return rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
  }
  if (policy == "exp") return rate * std::pow(gamma, t);
  if (policy == "sigmoid") {
    return rate / (1 + std::exp(-gamma * (t - static_cast<double>(step_size))));
  }
  throw Error(unknown_kind("rate policy", policy, policies));
}

}  // namespace feedrate::trainer
