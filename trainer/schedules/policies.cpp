// The policies of Caffe, by its names and formulas, and the cosine of Loshchilov and Hutter (2016)
// without restarts.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/schedules/schedule.h"

namespace feedrate::trainer {
namespace {

using Numbers = Policy::Numbers;

double fixed_rate(const Schedule& s, std::uint64_t) { return s.rate; }
const Policy fixed_row("fixed", "the base rate throughout", {.rate = fixed_rate});

double step_rate(const Schedule& s, std::uint64_t step) {
  return s.rate * std::pow(s.gamma, static_cast<double>(step / s.step_size));
}
const Policy step_row("step", "times gamma after every step_size steps",
                      {.rate = step_rate,
                       .numbers = Numbers::recipe,
                       .positive = &Schedule::step_size,
                       .positive_name = "a step size"});

double multistep_rate(const Schedule& s, std::uint64_t step) {
  const auto drops = std::ranges::count_if(s.steps, [step](auto at) { return at <= step; });
  return s.rate * std::pow(s.gamma, static_cast<double>(drops));
}
const Policy multistep_row("multistep", "times gamma at each of some steps",
                           {.rate = multistep_rate, .numbers = Numbers::recipe});

double inv_rate(const Schedule& s, std::uint64_t step) {
  return s.rate * std::pow(1 + s.gamma * static_cast<double>(step), -s.power);
}
const Policy inv_row("inv", "over (1 + gamma times the step) to a power",
                     {.rate = inv_rate, .numbers = Numbers::recipe});

double poly_rate(const Schedule& s, std::uint64_t step) {
  const double done = static_cast<double>(step) / static_cast<double>(s.max_steps);
  return s.rate * std::pow(std::max(0.0, 1 - done), s.power);
}
const Policy poly_row("poly", "times a power of the share of steps that remains",
                      {.rate = poly_rate,
                       .numbers = Numbers::recipe,
                       .positive = &Schedule::max_steps,
                       .positive_name = "a number of steps"});

double exp_rate(const Schedule& s, std::uint64_t step) {
  return s.rate * std::pow(s.gamma, static_cast<double>(step));
}
const Policy exp_row("exp", "times gamma after every step",
                     {.rate = exp_rate, .numbers = Numbers::recipe});

double sigmoid_rate(const Schedule& s, std::uint64_t step) {
  const double from_middle = static_cast<double>(step) - static_cast<double>(s.step_size);
  return s.rate / (1 + std::exp(-s.gamma * from_middle));
}
const Policy sigmoid_row("sigmoid", "times a sigmoid whose middle is at step_size",
                         {.rate = sigmoid_rate, .numbers = Numbers::recipe});

double cosine_rate(const Schedule& s, std::uint64_t step) {
  if (step <= s.warmup) return s.rate;
  const double done = s.max_steps > s.warmup ? static_cast<double>(step - s.warmup) /
                                                   static_cast<double>(s.max_steps - s.warmup)
                                             : 1;
  return s.rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
}
const Policy cosine_row("cosine", "half a cosine, from the base rate down to 0",
                        {.rate = cosine_rate,
                         .numbers = Numbers::length_of_training,
                         .positive = &Schedule::max_steps,
                         .positive_name = "a number of steps"});

}  // namespace

#define FEEDRATE_ROW(name)            \
  extern const Policy& name##_policy; \
  const Policy& name##_policy = name##_row;
#include "trainer/schedules/list.inc"
#undef FEEDRATE_ROW

}  // namespace feedrate::trainer
