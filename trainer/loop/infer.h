#pragma once
// Inference: timed forward passes, accuracy, and features of images.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "loader/batch.h"
#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct Inference {
  std::uint64_t images = 0;
  std::uint64_t timed_images = 0;  // without the first batch, which also warms up
  double seconds = 0;              // wall time of the timed images
  double wait_seconds = 0;         // the part of `seconds` spent waiting for batches
  double loss = 0;                 // mean
  double accuracy = 0;             // top-1, 0 … 1
  double accuracy5 = 0;            // top-5
  /// Seconds for 1,000 images; 0 if there was only one batch.
  double seconds_per_1000() const {
    return timed_images == 0 ? 0 : 1000 * seconds / static_cast<double>(timed_images);
  }
};

/// Runs batches forward, at most `steps` of them (0: until the source ends). Throws Stopped when a stop
/// is requested (formats/base/stop.h), and Error for a loss that is not finite; extract_features()
/// does so for features.
Inference infer(Session& session, loader::BatchSource& source, std::uint64_t steps = 0);

/// The same, but only up to `node`, whose output goes to `take` batch by batch: image after image,
/// in canonical order. Loss and accuracy stay 0.
Inference extract_features(Session& session, loader::BatchSource& source, std::size_t node,
                           const std::function<void(std::span<const float>)>& take);

/// The node that features are usually taken from: the last pooling that evaluation runs. Throws
/// Error when the network has none.
std::size_t last_pooling(const Graph& graph);

}  // namespace feedrate::trainer
