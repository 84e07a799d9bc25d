#pragma once
// A network used, not trained: forward passes alone, timed, and what it sees in images.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "loader/batch.h"
#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct Inference {
  std::uint64_t images = 0;
  std::uint64_t timed_images =
      0;                    // all but the first batch's, which pays for what others find ready
  double seconds = 0;       // wall, for those
  double wait_seconds = 0;  // of which waiting for batches
  double loss = 0;          // mean
  double accuracy = 0;      // top-1, 0 … 1
  double accuracy5 = 0;     // top-5
  /// Seconds for 1,000 images; 0 when only one batch came.
  double seconds_per_1000() const {
    return timed_images == 0 ? 0 : 1000 * seconds / static_cast<double>(timed_images);
  }
};

/// Runs every batch forward, `steps` of them at most (0: all there are).
Inference infer(Session& session, loader::BatchSource& source, std::uint64_t steps = 0);

/// The same, but only as far as `node`, whose values go to `take` batch after batch: the images'
/// one after the other, in canonical order. There is no loss and no accuracy.
Inference extract_features(Session& session, loader::BatchSource& source, std::size_t node,
                           const std::function<void(std::span<const float>)>& take);

/// The node that published feature extraction reads: the last pooling that evaluation runs. Throws
/// Error when the network has none.
std::size_t last_pooling(const Graph& graph);

}  // namespace feedrate::trainer
