// Sums of gradients and metrics over all ranks.

#include <utility>

#include "trainer/backends/cpu/session.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::trainer::cpu {

void CpuSession::share_gradients(std::size_t node) {
  communicator_->progress();
  for (const GradientBucket& bucket : buckets_) {
    if (bucket.node == node) {
      communicator_->begin_sum({gradients_->floats() + bucket.begin, bucket.floats});
    }
  }
}

Metrics CpuSession::take_metrics() {
  return sum_over_ranks(communicator_, std::exchange(metrics_, {}));
}

}  // namespace feedrate::trainer::cpu
