// Convolution by cuDNN's graphs. Our own kernels add the bias and compute its gradient. In 16 bits
// cuDNN writes the filter gradient in 16 bits; the update widens it as it reads it.

#include <algorithm>
#include <optional>
#include <vector>

#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/conv_choice.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cuda {
namespace {

// `lanes` channels per thread.
template <class T, unsigned lanes>
struct AddBias {
  const float* bias;
  T* output;
  bool then_relu;
  struct Column {
    T* output;
    bool then_relu;
    float bias[lanes];
    __device__ void operator()(std::int64_t, std::int64_t i) const {
      auto values = load<T, lanes>(output + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const float value = values.values[k] + bias[k];
        values.values[k] = then_relu ? relu(value) : value;
      }
      store(output + i, values);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{output, then_relu, {}};
    for (unsigned k = 0; k < lanes; ++k) column.bias[k] = bias[c + k];
    return column;
  }
};

/// The gradient of what lies beyond the edge of a filter, in the last blocks of its rows and columns
/// (stored_input()): no weight is there, but pixels are.
template <class T>
struct ClearEdge {
  T* gradient;
  ImageLayout stored;  // of a filter
  std::int32_t blocks, block, kernel;
  std::uint32_t channels;
  __device__ void operator()(std::int64_t filter, std::uint32_t e) const {
    const PoolSpot spot = pool_spot(stored.pixel(e), blocks);
    const PoolSpot of_block = pool_spot(stored.channel(e) / channels, block);
    if (spot.row * block + of_block.row < kernel &&
        spot.column * block + of_block.column < kernel) {
      return;
    }
    gradient[filter * stored.elements() + e] = static_cast<T>(0.0F);
  }
};

template <class T>
class ConvLayer final : public LayerOf<T> {
 public:
  explicit ConvLayer(const LayerSite& site)
      : context_(site.context),
        shape_(shape_of(site.node(), site.stored, site.batch, site.context.values())),
        block_(site.stored.block),
        kernel_(site.node().attributes.integer("kernel")),
        channels_(site.input.channels),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.size() > 1 ? site.parameters[1] : DeviceParameter{}),
        relu_follows_(site.relu_follows),
        forward_(choose_engine(site, shape_, ConvDirection::forward)) {
    if (site.input_learns) data_ = choose_engine(site, shape_, ConvDirection::data);
    if (!site.learns) return;
    const ConvShape filters = splits_filters(shape_) ? group_of(shape_) : shape_;
    const std::int64_t calls = splits_filters(shape_) ? shape_.groups : 1;
    for (std::int64_t g = 0; g < calls; ++g) {
      filters_.push_back(choose_engine(site, filters, ConvDirection::filters));
    }
  }

  /// The kernel that adds the bias computes the relu.
  bool does_relu() const override { return relu_follows_ && bias_.value != nullptr; }
  std::size_t scratch_bytes() const override {
    return std::max(forward_.workspace(), data_ ? data_->workspace() : 0);
  }
  std::size_t weights_scratch_bytes() const override {
    std::size_t bytes =
        bias_.gradient == nullptr ? 0 : column_scratch<T, 1>(context_, rows(), shape_.out.channels);
    for (const ConvCall& call : filters_) bytes = std::max(bytes, call.workspace());
    return bytes;
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    forward_.run(context_,
                 ConvBuffers{buffers.input, weight_.as<T>(), buffers.output, buffers.scratch});
    if (bias_.value != nullptr) add_bias(buffers, step);
  }

  void run_backward_weights(const BuffersOf<T>& buffers) override {
    if (bias_.gradient != nullptr) {
      sum_rows(context_, "conv bias gradient", rows(), shape_.out.channels, buffers.output_gradient,
               bias_.gradient, buffers.scratch);
    }
    find_filter_gradient(buffers);
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    data_->run(context_, ConvBuffers{buffers.input_gradient, weight_.as<T>(),
                                     buffers.output_gradient, buffers.scratch});
  }

 private:
  std::int64_t rows() const { return shape_.images * shape_.out.height * shape_.out.width; }
  void add_bias(const BuffersOf<T>& buffers, const Step& step) const {
    with_lanes<T>(shape_.out.channels, [&](auto lanes) {
      each_of_columns<lanes>(
          context_, "conv bias", rows(), shape_.out.channels,
          AddBias<T, lanes>{bias_.value, buffers.output, does_relu() && !step.unfused});
    });
  }

  void find_filter_gradient(const BuffersOf<T>& buffers) {
    const auto calls = static_cast<std::int64_t>(filters_.size());  // one, or one for each group
    const auto filters = static_cast<std::int64_t>(shape_.filter_bytes() / sizeof(T));
    for (std::int64_t g = 0; g < calls; ++g) {
      filters_[static_cast<std::size_t>(g)].run(
          context_, ConvBuffers{buffers.input + g * (shape_.in.channels / calls),
                                static_cast<T*>(weight_.product_gradient) + g * (filters / calls),
                                buffers.output_gradient + g * (shape_.out.channels / calls),
                                buffers.scratch});
    }
    if (kernel_ % block_ != 0) clear_edge();
  }

  void clear_edge() const {
    const ImageLayout filter = image_layout({shape_.in.channels, shape_.kernel, shape_.kernel});
    each_of_images(
        context_, "conv filters' edge", shape_.out.channels, filter.elements(),
        ClearEdge<T>{static_cast<T*>(weight_.product_gradient), filter,
                     static_cast<std::int32_t>(shape_.kernel), static_cast<std::int32_t>(block_),
                     static_cast<std::int32_t>(kernel_), static_cast<std::uint32_t>(channels_)});
  }

  const Context& context_;
  ConvShape shape_;
  std::int64_t block_;  // of pixels, in the input as it lies in memory
  std::int64_t kernel_;
  std::int64_t channels_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  bool relu_follows_;
  ConvCall forward_;
  std::optional<ConvCall> data_;   // if the input gradient is needed
  std::vector<ConvCall> filters_;  // if backward is called
};

}  // namespace

std::unique_ptr<Layer> make_conv_layer(const LayerSite& site) {
  return make_typed<ConvLayer>(site);
}

}  // namespace feedrate::trainer::cuda
