#pragma once
// A convolution, or one of its gradients, as a graph of cuDNN's, and what executes it: the graph
// with the engine that computes it.
//
//   x, filter, y ─ operation ─ ConvGraph ─ ConvEngine (conv_engine.cuh) ─ ConvExecution ─ run()

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "trainer/backends/cuda/products/graph_descriptor.cuh"
#include "trainer/graph/graph.h"

namespace feedrate::trainer::cuda {

enum class ConvDirection : std::uint8_t { forward, data, filters };

/// "convolution", "gradient of a convolution's input" …
const char* name_of(ConvDirection direction);

/// All that a convolution is beside its values, which lie all alike.
struct ConvShape {
  ValueType type = ValueType::fp32;
  std::int64_t images = 0;
  Extent in;  // as it lies in memory
  Extent out;
  std::int64_t kernel = 0;
  std::int64_t stride = 0;
  std::int64_t pad = 0;
  std::int64_t groups = 1;

  std::size_t x_bytes() const;
  std::size_t filter_bytes() const;
  std::size_t y_bytes() const;
};

/// Of a convolution whose input lies in memory as `stored`.
ConvShape shape_of(const Node& node, const Extent& stored, std::int64_t images, ValueType type);

/// The same as words, for a file: "bf16 x 64x3x224x224 filters 64x3x7x7 y …".
std::string text_of(const ConvShape& shape);

/// What a direction reads and writes: of the three the gradients, where that is what it finds. All
/// aligned to 16 bytes.
struct ConvBuffers {
  const void* x;
  const void* filter;
  const void* y;
  void* workspace;
  bool operator==(const ConvBuffers&) const = default;
};

/// Throws Error where cuDNN takes no such convolution.
class ConvGraph {
 public:
  ConvGraph(cudnnHandle_t cudnn, const ConvShape& shape, ConvDirection direction);
  const GraphDescriptor& operations() const { return graph_; }

 private:
  GraphDescriptor x_, filter_, y_, convolution_, operation_, graph_;
};

/// What runs. The graph must live as long.
class ConvExecution {
 public:
  /// `config` is an engine's, of a graph on this handle. Throws Error where cuDNN cannot build it.
  ConvExecution(cudnnHandle_t cudnn, GraphDescriptor config);

  std::size_t workspace() const { return workspace_; }
  /// On the handle's stream. Other buffers than the last time's are told to cuDNN first, so that a
  /// step that repeats needs no memory of the host either.
  void run(cudnnHandle_t cudnn, const ConvBuffers& buffers);

 private:
  GraphDescriptor config_;
  GraphDescriptor execution_;
  std::size_t workspace_ = 0;
  std::optional<GraphDescriptor> pack_;
  ConvBuffers packed_{};
};

}  // namespace feedrate::trainer::cuda
