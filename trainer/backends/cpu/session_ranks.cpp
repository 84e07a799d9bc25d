// Sums of gradients and metrics over all ranks.

#include <array>
#include <utility>

#include "trainer/backends/cpu/session.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::trainer::cpu {
namespace {

// Large enough that latency does not matter, small enough that the last sum, which nothing
// overlaps, is short.
constexpr std::size_t bucket_floats = std::size_t{1} << 20;

}  // namespace

double CpuSession::sum_over_ranks(double value) const {
  if (communicator_ != nullptr) communicator_->sum({&value, 1});
  return value;
}

// Parameters are stored in the order of the nodes; backward visits them from the end.
void CpuSession::place_buckets() {
  std::size_t end = flat_size_;
  for (std::size_t number = parameter_places_.size(); number-- > 0;) {
    const std::size_t begin = parameter_places_[number].offset;
    const bool node_is_whole = parameter_places_[number].k == 0;
    if (!node_is_whole || (begin != 0 && end - begin < bucket_floats)) continue;
    buckets_.push_back({parameter_places_[number].layer, begin, end - begin});
    end = begin;
  }
}

void CpuSession::share_gradients(std::size_t node) {
  communicator_->progress();
  for (const Bucket& bucket : buckets_) {
    if (bucket.node == node) {
      communicator_->begin_sum({gradients_->floats() + bucket.offset, bucket.size});
    }
  }
}

Metrics CpuSession::take_metrics() {
  Metrics taken = std::exchange(metrics_, {});
  if (communicator_ == nullptr) return taken;
  std::array sums = {static_cast<double>(taken.images), static_cast<double>(taken.correct),
                     static_cast<double>(taken.correct5), taken.loss_sum};
  communicator_->sum(sums);
  return {.images = static_cast<std::uint64_t>(sums[0]),
          .correct = static_cast<std::uint64_t>(sums[1]),
          .correct5 = static_cast<std::uint64_t>(sums[2]),
          .loss_sum = sums[3]};
}

}  // namespace feedrate::trainer::cpu
