#pragma once
// An operator on the CPU. A layer is made at compile for a batch size and thread count, then bound
// to its memory; forward and backward allocate nothing.
//
// A step always processes a whole batch: missing images are zeros and get no gradient, so they do
// not change any sum.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/backends/backend.h"
#include "trainer/backends/cpu/blocked_layout.h"
#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

/// What a layer is made for.
struct LayerSite {
  const Graph& graph;
  std::size_t number = 0;  // of the node
  std::vector<Layout> inputs{};
  Layout input{};  // inputs[0]; empty for the input node
  std::int64_t batch = 0;
  unsigned threads = 1;
  std::uint64_t seed = 0;
  ValueType input_type = ValueType::fp32;  // of all inputs
  ValueType type = ValueType::fp32;        // of the output: that of the inputs, except for products
  bool bf16 = false;                       // a product whose factors are bf16
  bool input_learns = false;               // the gradient of inputs[0] is needed
  bool relu_follows = false;               // the only reader is a relu that works in place
  bool relu_before = false;  // inputs[0] is such a relu, and this node its only reader

  const Node& node() const { return graph.nodes[number]; }
};

/// What changes from step to step.
struct Step {
  std::span<const std::uint8_t> pixels;  // batch × shape, u8 HWC; empty for batches of floats
  std::span<const float> numbers;        // instead: scaled, canonical; empty for batches of pixels
  std::span<const std::int32_t> labels;  // count
  std::uint32_t count = 0;               // images
  std::uint32_t all_images = 0;          // of all ranks in this step
  bool training = false;
  bool relu_separate = false;  // each relu runs as its own node, so that every output can be read
  std::uint64_t number = 0;    // selects dropout's mask
  Metrics* metrics = nullptr;
};

/// The end of a residual block, relu(norm + other), which a norm computes in its own passes
/// (graph/fusion.h). Its values lie as the norm's do. Null where the sum is computed by itself.
template <class T>
struct BlockEndOf {
  const T* other = nullptr;     // forward; the result goes to `output`
  const T* gradient = nullptr;  // backward: of the relu's output
  const T* term = nullptr;      // to be added to it; null if there is none
  T* masked = nullptr;          // the gradient of both inputs of the sum; may be `gradient`
  T* output = nullptr;          // of the relu

  BlockEndOf() = default;
  template <class From>
  explicit BlockEndOf(const BlockEndOf<From>& from)
      : other(reinterpret_cast<const T*>(from.other)),
        gradient(reinterpret_cast<const T*>(from.gradient)),
        term(reinterpret_cast<const T*>(from.term)),
        masked(reinterpret_cast<T*>(from.masked)),
        output(reinterpret_cast<T*>(from.output)) {}
};

/// Where a layer's values are; fixed for the session's life. Inputs and their gradients are of the
/// site's input_type, the output and its gradient of its type; T is std::byte where the type is not
/// known at compile time.
template <class T>
struct BuffersOf {
  const T* input = nullptr;  // inputs[0]
  std::vector<const T*> inputs{};
  T* output = nullptr;
  T* output_gradient = nullptr;       // null for a loss; backward may overwrite it
  T* input_gradient = nullptr;        // input_gradients[0]
  std::vector<T*> input_gradients{};  // null where not needed
  std::vector<float*> parameters{};
  std::vector<float*> gradients{};
  BlockEndOf<T> end{};           // for a norm
  std::byte* saved = nullptr;    // saved_bytes(), preserved from forward to backward
  std::byte* scratch = nullptr;  // scratch_bytes(), valid during one call

  BuffersOf() = default;
  template <class From>
  explicit BuffersOf(const BuffersOf<From>& other)
      : input(reinterpret_cast<const T*>(other.input)),
        output(reinterpret_cast<T*>(other.output)),
        output_gradient(reinterpret_cast<T*>(other.output_gradient)),
        input_gradient(reinterpret_cast<T*>(other.input_gradient)),
        parameters(other.parameters),
        gradients(other.gradients),
        end(other.end),
        saved(other.saved),
        scratch(other.scratch) {
    for (const From* values : other.inputs) inputs.push_back(reinterpret_cast<const T*>(values));
    for (From* values : other.input_gradients) {
      input_gradients.push_back(reinterpret_cast<T*>(values));
    }
  }
};
using Buffers = BuffersOf<std::byte>;

class Layer {
 public:
  Layer(const LayerSite& site, const Layout& output);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const Layout& output() const { return output_; }
  virtual std::size_t saved_bytes() const { return 0; }
  virtual std::size_t scratch_bytes() const { return 0; }
  /// Whether it also computes the relu that follows it, forward and backward.
  virtual bool does_relu() const { return false; }
  /// Whether it also computes the relu before it; its input is then that of the relu.
  virtual bool does_relu_before() const { return false; }
  virtual void bind(const Buffers& buffers) = 0;

  virtual void forward(const Step& step) = 0;
  /// Overwrites (never adds to) the gradients of parameters and inputs.
  virtual void backward(const Step& step) = 0;

  /// Floats that the layer stores for parameter `k` of the node, and the conversions from and to
  /// canonical order. By default parameters are stored in canonical order.
  virtual std::size_t stored_size(std::size_t k) const;
  virtual void to_stored(std::size_t k, std::span<const float> canonical, float* stored) const;
  virtual void from_stored(std::size_t k, const float* stored, std::span<float> canonical) const;

 private:
  Layout output_;
  std::vector<std::size_t> parameter_sizes_;  // canonical
};

/// A layer whose values, inputs and outputs, are all of type T.
template <class T>
class LayerOf : public Layer {
 public:
  using Layer::Layer;
  void bind(const Buffers& buffers) override { buffers_ = BuffersOf<T>(buffers); }

 protected:
  const BuffersOf<T>& buffers() const { return buffers_; }

 private:
  BuffersOf<T> buffers_;
};

/// Makes a LayerType<T>, where T is the type of the site's values.
template <template <class> class LayerType>
std::unique_ptr<Layer> make_typed(const LayerSite& site) {
  return with_type(site.type, [&site](auto value) -> std::unique_ptr<Layer> {
    return std::make_unique<LayerType<decltype(value)>>(site);
  });
}

std::unique_ptr<Layer> make_layer(const LayerSite& site);

}  // namespace feedrate::trainer::cpu
