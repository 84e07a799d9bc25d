// What a session reports of its nodes' outputs: features, and where training diverged.

#include <algorithm>

#include "trainer/backends/cpu/session.h"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/values/relayout.h"

namespace feedrate::trainer::cpu {

std::vector<float> CpuSession::output(std::size_t node) const {
  const std::int64_t size = layers_[node]->output().elements() * count_;
  std::vector<float> values(static_cast<std::size_t>(size));
  with_type(types_[node], [&](auto value) {
    std::copy_n(reinterpret_cast<const decltype(value)*>(outputs_[node]), size, values.begin());
  });
  return values;
}

void CpuSession::forward_to(std::size_t node, std::span<float> values) {
  const OmpThreads omp(threads_);
  Metrics discarded;
  Step step = make_step(false, 0);
  step.metrics = &discarded;
  step.relu_separate = true;
  for (std::size_t i = 0; i <= node; ++i) {
    if (!plan_.training_only[i]) layers_[i]->forward(step);
  }
  const Layout& stored = layers_[node]->output();
  const Layout canonical{stored.extent, 1};
  const std::vector<float> all = output(node);
  for (std::int64_t image = 0; image < step.count; ++image) {
    relayout(all.data() + image * stored.elements(), stored,
             values.data() + image * canonical.elements(), canonical);
  }
}

// Outputs share memory, so the forward pass runs again and checks each output as it is written.
Divergence CpuSession::find_divergence(Step step) {
  Metrics discarded;
  step.metrics = &discarded;
  step.relu_separate = true;
  std::size_t i = 0;
  for (; i < layers_.size(); ++i) {
    layers_[i]->forward(step);
    if (!all_finite(output(i))) break;
  }
  return divergence_at(*this, step.number, i, communicator_ == nullptr);
}

}  // namespace feedrate::trainer::cpu
