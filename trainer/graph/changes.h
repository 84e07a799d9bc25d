#pragma once
// What a way to train asks of a network that was published otherwise. The graph stays the same:
// only start values, scales and the loss's target change.

#include <string_view>
#include <vector>

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

struct Changes {
  /// Start of every conv's and dense layer's weights: xavier, glorot, he or he-fan-out; "": as the
  /// network says.
  std::string_view init{};
  /// Share of each target that goes to all classes evenly, 0 … below 1.
  double smoothing = 0;
  /// The last norm of a residual branch starts at 0, so that each block starts as its shortcut.
  bool zero_gamma = false;
  /// Biases, and weights of norms, decay as the network says; false: not at all.
  bool decay_vectors = true;
  /// Of pixels, 0 … 255: what is taken off, and what the rest is divided by. One for all channels,
  /// or one for each (RGB); empty: as the network says.
  std::vector<double> means{};
  std::vector<double> deviations{};
};

/// Throws Error for an unknown start, a smoothing out of range, zero_gamma of a network that has no
/// residual branch which ends in a norm, or means and deviations that do not fit the images.
void apply(const Changes& changes, Graph& graph);

}  // namespace feedrate::trainer
