#include "trainer/backends/rank_sums.h"

#include <array>

#include "trainer/communicators/communicator.h"

namespace feedrate::trainer {

double sum_over_ranks(Communicator* communicator, double value) {
  if (communicator != nullptr) communicator->sum({&value, 1});
  return value;
}

Metrics sum_over_ranks(Communicator* communicator, const Metrics& own) {
  if (communicator == nullptr) return own;
  std::array sums = {static_cast<double>(own.images), static_cast<double>(own.correct),
                     static_cast<double>(own.correct5), own.loss_sum};
  communicator->sum(sums);
  return {.images = static_cast<std::uint64_t>(sums[0]),
          .correct = static_cast<std::uint64_t>(sums[1]),
          .correct5 = static_cast<std::uint64_t>(sums[2]),
          .loss_sum = sums[3]};
}

std::vector<GradientBucket> gradient_buckets(
    const Graph& graph, std::size_t floats, std::size_t min_floats,
    const std::function<std::size_t(std::size_t parameter)>& offset) {
  std::vector<GradientBucket> buckets;
  std::size_t end = floats;
  for (std::size_t node = graph.nodes.size(); node-- > 0;) {
    if (graph.nodes[node].parameters.empty()) continue;
    const std::size_t begin = offset(graph.nodes[node].parameters.front());
    if (begin != 0 && end - begin < min_floats) continue;
    buckets.push_back({node, begin, end - begin});
    end = begin;
  }
  return buckets;
}

}  // namespace feedrate::trainer
