#pragma once
// Changes that a training recipe makes to a published network. The nodes stay the same: only
// initial values, input scaling, weight decay and the targets of the loss change.

#include <string_view>
#include <vector>

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// Rules for initial weights.
inline constexpr std::string_view init_words[] = {"xavier", "glorot", "he", "he-fan-out"};

struct Changes {
  /// Initial weights of all conv and dense layers, one of init_words; "": as the network defines
  /// them.
  std::string_view init{};
  /// Share of each target that is spread evenly over all classes: at least 0, below 1.
  double smoothing = 0;
  /// The last norm of a residual branch starts at 0, so that each block starts as its shortcut.
  bool zero_gamma = false;
  /// Whether biases and the weights of norms decay, as the network defines; false: not at all.
  bool decay_vectors = true;
  /// Means to subtract from pixels of 0 … 255, and deviations to divide the result by: one for all
  /// channels or one for each (RGB); empty: as the network defines them.
  std::vector<double> means{};
  std::vector<double> deviations{};
};

/// Throws Error for an unknown `init`, a smoothing out of range, zero_gamma where no residual
/// branch ends in a norm, or means and deviations that do not fit the image's channels.
void apply(const Changes& changes, Graph& graph);

}  // namespace feedrate::trainer
