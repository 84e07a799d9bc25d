#include "trainer/backends/cpu/update.h"

#include "formats/error.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/optimizers/sgd.h"

namespace feedrate::cpu {
namespace {

FEEDRATE_VECTOR void sgd_run(float* __restrict weights, const float* __restrict gradients,
                             float* __restrict velocity, std::int64_t size, float rate,
                             float momentum, float decay) {
  for (std::int64_t i = 0; i < size; ++i) {
    sgd_update(weights[i], gradients[i], velocity[i], rate, momentum, decay);
  }
}

void sgd(const UpdateRun& run, const UpdateSettings& settings) {
  sgd_run(run.weights, run.gradients, run.state, run.size, static_cast<float>(settings.rate),
          static_cast<float>(settings.momentum), static_cast<float>(settings.decay));
}

constexpr struct {
  std::string_view optimizer;
  Update update;
} rows[] = {
    {"sgd", sgd},
};

}  // namespace

Update update_of(const Optimizer& optimizer) {
  for (const auto& row : rows) {
    if (row.optimizer == optimizer.name()) return row.update;
  }
  throw Error(join("the cpu backend does not know the optimizer ", optimizer.name()));
}

}  // namespace feedrate::cpu
