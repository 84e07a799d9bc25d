#pragma once
// What every backend does when ranks train together: they sum metrics and gradients.

#include <cstddef>
#include <functional>
#include <vector>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

/// The sum over all ranks; the value itself if `communicator` is null. All ranks call it together.
double sum_over_ranks(Communicator* communicator, double value);
Metrics sum_over_ranks(Communicator* communicator, const Metrics& own);

/// A run of the flat gradients that is summed as one message. It is complete when the backward of
/// `node` is done, because backward runs from the last node to the first.
struct GradientBucket {
  std::size_t node;
  std::size_t begin;   // floats
  std::size_t floats;  // its length
};

/// All `floats` gradients in buckets of at least `min_floats`, in the order of backward. The size
/// is a compromise: messages must be large beside their latency, but the last one, which no
/// computation hides, must be short. `offset` gives the place of a parameter, by its number;
/// parameters lie in the order of the nodes.
std::vector<GradientBucket> gradient_buckets(
    const Graph& graph, std::size_t floats, std::size_t min_floats,
    const std::function<std::size_t(std::size_t parameter)>& offset);

}  // namespace feedrate::trainer
