#pragma once
// A convolution, or one of its gradients, as a cuDNN graph, and its execution by an engine.
//
//   x, filter, y ─ operation ─ ConvGraph ─ ConvEngine (conv_engine.cuh) ─ ConvExecution ─ run()

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/backends/cuda/products/graph_descriptor.cuh"
#include "trainer/graph/graph.h"
#include "trainer/graph/passes.h"

namespace feedrate::trainer::cuda {

enum class ConvDirection : std::uint8_t { forward, data, filters };

/// "convolution", "gradient of a convolution's input" …
const char* name_of(ConvDirection direction);

/// The geometry and type of a convolution; all its tensors are interleaved.
struct ConvShape {
  ValueType type = ValueType::fp32;
  std::int64_t images = 0;
  Extent in;  // as it lies in memory, with padded channels
  Extent out;
  std::int64_t kernel = 0;
  std::int64_t stride = 0;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  // Values from one pixel to the next, where x and y are some channels of larger tensors; 0: they
  // are whole.
  std::int64_t x_pixel = 0;
  std::int64_t y_pixel = 0;

  std::size_t x_bytes() const;
  std::size_t filter_bytes() const;
  std::size_t y_bytes() const;
};

/// The shape of a conv node. `stored`: its input as it lies in memory.
ConvShape shape_of(const Node& node, const StoredExtent& stored, std::int64_t images,
                   ValueType type);

/// Whether the gradient of the filters is computed group by group. In 16 bits cuDNN has engines
/// with tensor cores for each group of any convolution, but not for all groups at once. A group
/// must be aligned.
bool splits_filters(const ConvShape& shape);
/// The shape of one group, as a convolution of some channels of the same tensors.
ConvShape group_of(const ConvShape& shape);

/// The most parts: with more, an engine that needs no workspace is better than launches.
inline constexpr std::int64_t max_conv_parts = 64;

/// Whether a batch can be convolved in that many parts: 1 to max_conv_parts that are equal and
/// aligned, and what is summed over them is fp32.
bool can_split(const ConvShape& shape, ConvDirection direction, std::int64_t parts);

/// The shape of one of these parts.
ConvShape part_of(const ConvShape& shape, std::int64_t parts);

/// The shape as text, for the cache: "bf16 x 64x3x224x224 filters 64x3x7x7 y …".
std::string text_of(const ConvShape& shape);

/// The alignment of tensors, in bytes: engines need it to load 16 bytes at once. device_alignment
/// is a multiple.
inline constexpr std::int64_t tensor_alignment = 16;

/// The tensors that a direction reads and writes; in a backward direction some of the three are
/// gradients. All have tensor_alignment.
struct ConvBuffers {
  const void* x;
  const void* filter;
  const void* y;
  void* workspace;
  bool operator==(const ConvBuffers&) const = default;
};

/// Throws Error if cuDNN does not support the convolution.
class ConvGraph {
 public:
  ConvGraph(cudnnHandle_t cudnn, const ConvShape& shape, ConvDirection direction);
  const GraphDescriptor& operations() const { return graph_; }

 private:
  GraphDescriptor x_, filter_, y_, convolution_, operation_, graph_;
};

/// A graph with its engine, ready to run. The graph must outlive it.
class ConvExecution {
 public:
  /// `config` belongs to an engine of a graph on this handle. Throws Error if cuDNN cannot build
  /// it.
  ConvExecution(cudnnHandle_t cudnn, GraphDescriptor config);

  std::size_t workspace() const { return workspace_; }
  /// Runs on the handle's stream. There is a descriptor for each set of buffers that it has seen,
  /// so that a repeated step allocates no host memory either.
  void run(cudnnHandle_t cudnn, const ConvBuffers& buffers);

 private:
  GraphDescriptor config_;
  GraphDescriptor execution_;
  std::size_t workspace_ = 0;
  struct Pack {
    ConvBuffers buffers;
    GraphDescriptor descriptor;
  };
  std::vector<Pack> packs_;
};

}  // namespace feedrate::trainer::cuda
