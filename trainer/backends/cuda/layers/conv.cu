// Convolution by cuDNN's graphs. Our own kernels add the bias and compute its gradient. In 16 bits
// cuDNN writes the filter gradient in 16 bits, which we then widen.

#include <algorithm>
#include <optional>

#include "formats/base/bytes.h"
#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/conv_choice.cuh"
#include "trainer/ops/elementwise.h"

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

template <class T, unsigned lanes>
struct SumGradients {
  const T* output_gradient;
  __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>>* sums) const {
    const auto values = load<T, lanes>(output_gradient + i);
    for (unsigned k = 0; k < lanes; ++k) sums[k].first += values.values[k];
  }
};
struct WriteGradient {
  float* gradient;
  __device__ void operator()(std::int64_t column, const ColumnSums<double>& sums) const {
    gradient[column] = static_cast<float>(sums.first);
  }
};

template <class T>
class ConvLayer final : public LayerOf<T> {
 public:
  explicit ConvLayer(const LayerSite& site)
      : context_(site.context),
        shape_(shape_of(site.node(), site.stored, site.batch, site.context.values())),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.size() > 1 ? site.parameters[1] : DeviceParameter{}),
        relu_follows_(site.relu_follows),
        forward_(choose_engine(site, shape_, ConvDirection::forward)) {
    if (site.input_learns) data_ = choose_engine(site, shape_, ConvDirection::data);
    if (site.learns) filters_ = choose_engine(site, shape_, ConvDirection::filters);
  }

  /// The kernel that adds the bias computes the relu.
  bool does_relu() const override { return relu_follows_ && bias_.value != nullptr; }
  std::size_t scratch_bytes() const override {
    std::size_t libraries = forward_.workspace();
    for (const auto& call : {&data_, &filters_}) {
      if (*call) libraries = std::max(libraries, (*call)->workspace());
    }
    return filter_bytes() +
           std::max(libraries, column_scratch<T>(context_, rows(), shape_.out.channels));
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    forward_.run(context_,
                 ConvBuffers{buffers.input, weight_.as<T>(), buffers.output, buffers.scratch});
    if (bias_.value != nullptr) add_bias(buffers, step);
  }

  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (bias_.gradient != nullptr) sum_bias_gradient(buffers);
    find_filter_gradient(buffers);
    if (buffers.input_gradient == nullptr) return;
    data_->run(context_, ConvBuffers{buffers.input_gradient, weight_.as<T>(),
                                     buffers.output_gradient, buffers.scratch});
  }

 private:
  std::int64_t rows() const { return shape_.images * shape_.out.height * shape_.out.width; }
  /// Bytes of the filter gradient that is to be widened.
  std::size_t filter_bytes() const {
    if (!narrow<T>) return 0;
    return formats::round_up(shape_.filter_bytes(), device_alignment);
  }

  void add_bias(const BuffersOf<T>& buffers, const Step& step) const {
    with_lanes<T>(shape_.out.channels, [&](auto lanes) {
      each_of_columns<lanes>(
          context_, "conv bias", rows(), shape_.out.channels,
          AddBias<T, lanes>{bias_.value, buffers.output, does_relu() && !step.relu_separate});
    });
  }

  void sum_bias_gradient(const BuffersOf<T>& buffers) const {
    with_lanes<T>(shape_.out.channels, [&](auto lanes) {
      sum_columns<T, lanes>(context_, "conv bias gradient", rows(), shape_.out.channels,
                            SumGradients<T, lanes>{buffers.output_gradient},
                            WriteGradient{bias_.gradient}, buffers.scratch);
    });
  }

  void find_filter_gradient(const BuffersOf<T>& buffers) {
    void* gradient = weight_.gradient;
    std::byte* workspace = buffers.scratch;
    if constexpr (narrow<T>) {
      gradient = buffers.scratch;
      workspace += filter_bytes();
    }
    filters_->run(context_,
                  ConvBuffers{buffers.input, gradient, buffers.output_gradient, workspace});
    if constexpr (narrow<T>) {
      convert(context_, "conv filter gradient",
              static_cast<std::int64_t>(shape_.filter_bytes() / sizeof(T)),
              static_cast<const T*>(gradient), weight_.gradient);
    }
  }

  const Context& context_;
  ConvShape shape_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  bool relu_follows_;
  ConvCall forward_;
  std::optional<ConvCall> data_;     // if the input gradient is needed
  std::optional<ConvCall> filters_;  // if backward is called
};

}  // namespace

std::unique_ptr<Layer> make_conv_layer(const LayerSite& site) {
  return make_typed<ConvLayer>(site);
}

}  // namespace feedrate::trainer::cuda
