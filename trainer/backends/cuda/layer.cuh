#pragma once
// The CUDA half of an operator, for every type of values. It is made once, when the network is
// compiled; forward and backward receive its memory and allocate nothing.
//
// A step always runs on whole batches: missing images have label −1.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/loss_scale.cuh"
#include "trainer/backends/product_engine.h"
#include "trainer/graph/fusion.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/passes.h"
#include "trainer/ops/layout.h"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {
class Communicator;
}

namespace feedrate::trainer::cuda {

struct DeviceMetrics {
  double loss_sum;
  unsigned long long correct;
  unsigned long long correct5;
  unsigned long long images;
};

struct DeviceParameter {
  float* value = nullptr;
  float* gradient = nullptr;  // each backward writes all of it
  void* rounded = nullptr;    // the same values in the session's type; in fp32 `value` itself
  /// Where products write the gradient. For filters in 16 bits it is a buffer in 16 bits, which the
  /// update reads, or FlatParameters::widen(), which writes `gradient`; else it is `gradient`.
  void* product_gradient = nullptr;
  float* next = nullptr;  // statistics only: their next values, if the step's loss is finite

  /// The copy that products read.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(rounded);
  }
};

class AlgorithmCache;

/// What a layer is made from. Everything a layer keeps of it is copied or lives as long as the
/// session.
struct LayerSite {
  const Context& context;
  const Graph& graph;
  std::size_t number = 0;  // of the node
  std::vector<Extent> inputs{};
  Extent input{};         // inputs[0]; all ones for the input node
  StoredExtent stored{};  // `input` as it lies in memory; for the input node, its output
  std::int64_t batch = 0;
  std::vector<DeviceParameter> parameters{};
  std::uint64_t seed = 0;
  Communicator* communicator = nullptr;           // the first rank chooses for all; null: alone
  AlgorithmCache* algorithms = nullptr;           // of measured choices; null: nothing is measured
  std::vector<ProductEngine>* engines = nullptr;  // where choices are noted; null: nowhere
  const DeviceLossScale* loss_scale = nullptr;    // null: losses are not scaled
  bool learns = true;                             // backward will be called …
  bool input_learns = true;                       // … and the gradient of inputs[0] is needed
  bool relu_follows = false;                      // the only reader is a relu that works in place
  bool masks_relu = false;                        // a norm's backward also does that relu's
  /// The end of a residual block whose sum or norm the node is; null if there is none.
  const BlockEnd* block_end = nullptr;
  /// The parameters of the sum's norms.
  std::array<std::vector<DeviceParameter>, 2> norm_parameters{};

  const Node& node() const { return graph.nodes[number]; }
};

/// What a step works on. While a side of the inputs holds a whole batch, none of it changes, so the
/// step can be recorded; what changes from step to step lies on the device.
struct Step {
  const std::uint8_t* pixels;  // batch × shape, u8 HWC
  const std::int32_t* labels;  // −1 for missing images
  std::uint32_t count;         // images present
  std::uint32_t all_images;    // images of all ranks in this step: gradients are means over these
  bool training;
  bool unfused;  // forward: each node computes its own output, so that every output can be read
  DeviceMetrics* metrics;
  const UpdateSettings* settings;  // on the device; settings->step draws dropout's mask
};

/// Where a layer's values are. For an operator that works in place, the output is the input, and
/// the input gradient is the output gradient.
struct Buffers {
  std::vector<const std::byte*> inputs{};
  std::byte* output = nullptr;
  std::byte* output_gradient = nullptr;       // null for a loss
  std::vector<std::byte*> input_gradients{};  // null where none is needed
  std::byte* saved = nullptr;                 // saved_bytes(), kept from forward to backward
  std::byte* scratch = nullptr;               // scratch_bytes(), for the duration of a call
  // For fused layers only (trainer/graph/fusion.h).
  const std::byte* second_term = nullptr;  // of a block's end: to add to output_gradient; or null
  std::array<const Buffers*, 2> norms{};   // of a block's end; or null
};

/// The same, with the type of the values.
template <class T>
struct BuffersOf {
  explicit BuffersOf(const Buffers& buffers)
      : output(reinterpret_cast<T*>(buffers.output)),
        output_gradient(reinterpret_cast<const T*>(buffers.output_gradient)),
        saved(buffers.saved),
        scratch(buffers.scratch),
        untyped_(buffers) {
    if (buffers.inputs.empty()) return;
    input = inputs(0);
    input_gradient = input_gradients(0);
  }
  const T* inputs(std::size_t k) const { return reinterpret_cast<const T*>(untyped_.inputs[k]); }
  T* input_gradients(std::size_t k) const {
    return reinterpret_cast<T*>(untyped_.input_gradients[k]);
  }
  const Buffers& untyped() const { return untyped_; }
  const Buffers& norm(std::size_t k) const { return *untyped_.norms[k]; }
  const T* second_term() const { return reinterpret_cast<const T*>(untyped_.second_term); }
  /// output_gradient, for the end of a residual block, which completes it.
  T* own_gradient() const { return reinterpret_cast<T*>(untyped_.output_gradient); }

  const T* input = nullptr;  // inputs(0)
  T* output;
  const T* output_gradient;
  T* input_gradient = nullptr;  // input_gradients(0)
  std::byte* saved;
  std::byte* scratch;

 private:
  const Buffers& untyped_;
};

class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::size_t saved_bytes() const { return 0; }
  virtual std::size_t scratch_bytes() const { return 0; }
  /// The scratch of backward_weights(), which may run beside other calls.
  virtual std::size_t weights_scratch_bytes() const { return 0; }
  /// Whether forward also computes the relu that follows.
  virtual bool does_relu() const { return false; }
  virtual void forward(const Buffers& buffers, const Step& step) = 0;
  /// Both write (never add to) gradients: of the parameters, where backward() does not do it, and
  /// of the inputs. Only a node with weights (OpTraits::weights) has the first.
  virtual void backward_weights(const Buffers&, const Step&) {}
  virtual void backward(const Buffers& buffers, const Step& step) = 0;
};

/// A layer whose values are of type T.
template <class T>
class LayerOf : public Layer {
 public:
  void forward(const Buffers& buffers, const Step& step) final {
    run_forward(BuffersOf<T>(buffers), step);
  }
  void backward_weights(const Buffers& buffers, const Step&) final {
    run_backward_weights(BuffersOf<T>(buffers));
  }
  void backward(const Buffers& buffers, const Step& step) final {
    run_backward(BuffersOf<T>(buffers), step);
  }

 protected:
  virtual void run_forward(const BuffersOf<T>& buffers, const Step& step) = 0;
  virtual void run_backward_weights(const BuffersOf<T>&) {}
  virtual void run_backward(const BuffersOf<T>& buffers, const Step& step) = 0;
};

/// Makes a LayerType<T>, where T is the type of the site's values.
template <template <class> class LayerType>
std::unique_ptr<Layer> make_typed(const LayerSite& site) {
  return with_type(site.context.values(), [&site](auto value) -> std::unique_ptr<Layer> {
    return std::make_unique<LayerType<decltype(value)>>(site);
  });
}

std::unique_ptr<Layer> make_layer(const LayerSite& site);

/// to[i] += from[i], in the context's type of values.
void add_values(const Context& context, const std::byte* from, std::int64_t size, std::byte* to);

/// The dimension as the int that the libraries take; throws Error outside 1 … 2^31 − 1.
int dimension(std::int64_t value);

inline ImageLayout image_layout(const Extent& extent) {
  return {static_cast<std::uint32_t>(extent.channels),
          static_cast<std::uint32_t>(extent.height * extent.width)};
}

}  // namespace feedrate::trainer::cuda
