#pragma once
// A convolution with the engine chosen for it, ready to run. Where the fast engines need more
// workspace for a whole batch than there is, it runs in equal parts of the batch, one after the
// other in the same workspace.

#include <cstdint>
#include <memory>
#include <string>

#include "trainer/backends/cuda/products/conv_graph.cuh"

namespace feedrate::trainer::cuda {

/// " in 4 parts", or "" for a whole batch; and the number in a name that ends so, else 1.
std::string text_of_parts(std::int64_t parts);
std::int64_t parts_in(const std::string& name);

class ConvCall {
 public:
  /// `graph` and `execution` are those of one part of `shape`.
  ConvCall(const ConvShape& shape, ConvDirection direction, std::int64_t parts,
           std::shared_ptr<const ConvGraph> graph, ConvExecution execution)
      : part_(part_of(shape, parts)),
        direction_(direction),
        parts_(parts),
        graph_(std::move(graph)),
        execution_(std::move(execution)) {}
  std::int64_t parts() const { return parts_; }
  std::size_t workspace() const { return sum_bytes() + execution_.workspace(); }
  void run(const Context& context, const ConvBuffers& buffers);

 private:
  /// Bytes of the workspace that hold the filter gradient of a part until it is added to the
  /// others.
  std::size_t sum_bytes() const;

  ConvShape part_;
  ConvDirection direction_;
  std::int64_t parts_;
  std::shared_ptr<const ConvGraph> graph_;
  ConvExecution execution_;
};

}  // namespace feedrate::trainer::cuda
