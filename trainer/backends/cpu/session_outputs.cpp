// What a session tells of the values that flow through it, beside its metrics.

#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/session.h"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/values/relayout.h"

namespace feedrate::trainer::cpu {

void CpuSession::forward_to(std::size_t node, std::span<float> values) {
  const OmpThreads omp(threads_);
  Metrics unwanted;
  Pass now = pass(false, 0);
  now.metrics = &unwanted;
  now.apart = true;
  for (std::size_t i = 0; i <= node; ++i) {
    if (!plan_.training_only[i]) layers_[i]->forward(now);
  }
  const Layout& own = layers_[node]->output();
  const Layout canonical{own.extent, 1};
  for (std::int64_t image = 0; image < now.count; ++image) {
    relayout(outputs_[node] + image * own.elements(), own,
             values.data() + image * canonical.elements(), canonical);
  }
}

bool CpuSession::finite(std::size_t node) const {
  const float* values = outputs_[node];
  const std::int64_t size = layers_[node]->output().elements() * count_;
  return std::all_of(values, values + size, [](float value) { return std::isfinite(value); });
}

// Values lie where others lay before them, so the forward pass is run again, layer by layer.
Divergence CpuSession::find_divergence(Pass now) {
  Metrics unwanted;
  now.metrics = &unwanted;
  now.apart = true;
  std::size_t i = 0;
  for (; i < layers_.size(); ++i) {
    layers_[i]->forward(now);
    if (!finite(i)) break;
  }
  return divergence_at(*this, now.step, i, communicator_ == nullptr);
}

}  // namespace feedrate::trainer::cpu
