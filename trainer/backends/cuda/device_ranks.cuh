#pragma once
// Ranks that train together, each with a device of its own: gradients become sums over all of them,
// by NCCL, on a stream beside the one that computes. NCCL is loaded when the first session asks.

#include <cstddef>
#include <vector>

#include "trainer/backends/cuda/parameters.cuh"
#include "trainer/communicators/communicator.h"
#include "trainer/graph/plan.h"

struct ncclComm;

namespace feedrate::trainer::cuda {

class DeviceRanks {
 public:
  /// All ranks construct theirs together. Throws Error when NCCL cannot be loaded or refuses.
  DeviceRanks(Communicator& hosts, const Context& context, const Plan& plan,
              const FlatParameters& flat);
  ~DeviceRanks();
  DeviceRanks(const DeviceRanks&) = delete;
  DeviceRanks& operator=(const DeviceRanks&) = delete;

  /// Begins to add up the losses, once forward was given to context.compute().
  void share_loss(const DeviceMetrics* own);
  /// Begins to add up the gradients that are whole, once the node's backward was given.
  void share_gradients(std::size_t node);
  /// What context.compute() is given from now on sees the sums of all ranks.
  void finish();
  /// Of which loss_sum alone is that of all ranks, and nothing else is there.
  const DeviceMetrics* losses() const;

 private:
  // Nodes are worked on from the end, so a bucket is whole once its first node is done.
  struct Bucket {
    std::size_t node;
    float* gradients;
    std::size_t count;
  };
  /// The stream of the sums, once it waits for what context.compute() was given so far.
  cudaStream_t stream_after_compute();
  void place_buckets(const Plan& plan, const FlatParameters& flat);

  const Context& context_;
  Stream stream_;
  std::vector<Event> computed_;  // one for each sum of a step
  std::size_t sums_ = 0;         // begun in this step
  Event finished_;
  DeviceMemory losses_;
  std::vector<Bucket> buckets_;
  ncclComm* all_ = nullptr;
};

}  // namespace feedrate::trainer::cuda
