#pragma once
// Ranks that train together, each on its own device. NCCL sums the gradients over all ranks, on a
// stream beside the one that computes. It is loaded when the first session needs it.

#include <cstddef>
#include <mutex>
#include <vector>

#include "trainer/backends/cuda/parameters.cuh"
#include "trainer/backends/rank_sums.h"
#include "trainer/communicators/communicator.h"
#include "trainer/graph/memory_plan.h"

struct ncclComm;

namespace feedrate::trainer::cuda {

class DeviceRanks {
 public:
  /// All ranks construct theirs together. Throws Error when NCCL cannot be loaded or fails.
  DeviceRanks(Communicator& hosts, const Context& context, const Plan& plan,
              const FlatParameters& flat);
  ~DeviceRanks();
  DeviceRanks(const DeviceRanks&) = delete;
  DeviceRanks& operator=(const DeviceRanks&) = delete;

  /// Starts the sum of the losses. Call it after forward has been queued on context.compute().
  void share_loss(const DeviceMetrics* own);
  /// Whether the node's backward completes a bucket of gradients.
  bool ends_bucket(std::size_t node) const;
  /// Starts the sums of the buckets that are complete. Call it after the node's backward has been
  /// queued, and after compute() waits for the gradients so far.
  void share_gradients(std::size_t node);
  /// Makes context.compute() wait for the sums: work queued later reads those of all ranks.
  void finish();
  /// After a failure: ends the sums that are under way, of which another rank may never do its part.
  /// Their results are void, and no more may follow. For any thread; it is called by itself when the
  /// hosts know that a rank has ended early, so that no wait for the device outlives that rank.
  void give_up();
  /// Only loss_sum is set: that of all ranks.
  const DeviceMetrics* losses() const { return losses_.as<DeviceMetrics>(); }

 private:
  /// The stream of the sums, after making it wait for all that context.compute() holds so far.
  cudaStream_t stream_after_compute();
  /// Starts a sum over all ranks, after the work that is already queued on context.compute().
  void sum(const void* from, void* to, std::size_t count, int type);

  Communicator& hosts_;
  const Context& context_;
  Stream stream_;
  std::vector<Event> computed_;  // one for each sum of a step
  std::size_t sums_ = 0;         // started in this step
  Event finished_;
  DeviceMemory losses_;
  const FlatParameters& flat_;
  std::vector<GradientBucket> buckets_;
  std::mutex mutex_;         // NCCL lets one thread at a time use a communicator
  ncclComm* all_ = nullptr;  // null: given up
};

}  // namespace feedrate::trainer::cuda
