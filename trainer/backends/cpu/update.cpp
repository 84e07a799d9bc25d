#include "trainer/backends/cpu/update.h"

#include "formats/base/error.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/optimizers/rules.h"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

// Compiled with -fno-math-errno: a square root that may set errno cannot be vectorised.
template <class Rule>
FEEDRATE_VECTOR void run_one(float* __restrict weights, const float* __restrict gradients,
                             float* __restrict state, std::int64_t size, const Rule& rule_) {
  const Rule rule = rule_;
  for (std::int64_t i = 0; i < size; ++i) rule.update(weights[i], gradients[i], state[i]);
}

template <class Rule>
FEEDRATE_VECTOR void run_two(float* __restrict weights, const float* __restrict gradients,
                             float* __restrict first, float* __restrict second, std::int64_t size,
                             const Rule& rule_) {
  const Rule rule = rule_;
  for (std::int64_t i = 0; i < size; ++i) {
    rule.update(weights[i], gradients[i], first[i], second[i]);
  }
}

template <class Rule>
void run_rule(const UpdateRun& run, const UpdateSettings& settings, const UpdateScale& scale) {
  const Rule rule(settings, scale);
  if constexpr (Rule::states == 1) {
    run_one(run.weights, run.gradients, run.state, run.size, rule);
  } else {
    static_assert(Rule::states == 2);
    run_two(run.weights, run.gradients, run.state, run.state + run.slot_stride, run.size, rule);
  }
}

constexpr std::int64_t lanes = 16;

// Adds the squares of whole groups of lanes; each lane has its own sum.
FEEDRATE_VECTOR void add_squares(const float* __restrict values, std::int64_t groups,
                                 double* __restrict sums) {
  for (std::int64_t group = 0; group < groups; ++group) {
    for (std::int64_t i = 0; i < lanes; ++i) {
      const double value = values[group * lanes + i];
      sums[i] += value * value;
    }
  }
}

}  // namespace

Update update_of(const Optimizer& optimizer) {
#define FEEDRATE_ROW(prefix) \
  if (optimizer.name() == prefix##Rule::name) return run_rule<prefix##Rule>;
#include "trainer/optimizers/list.inc"
#undef FEEDRATE_ROW
  throw Error(join("the cpu backend does not have the optimizer ", optimizer.name()));
}

double sum_of_squares(const float* values, std::int64_t size) {
  double sums[lanes] = {};
  add_squares(values, size / lanes, sums);
  double sum = 0;
  for (std::int64_t i = size / lanes * lanes; i < size; ++i) {
    sum += double{values[i]} * double{values[i]};
  }
  for (const double lane : sums) sum += lane;
  return sum;
}

}  // namespace feedrate::trainer::cpu
