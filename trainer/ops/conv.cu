// Convolution by cuDNN, deterministic algorithms only; the bias gradient is a sum of our own, since
// cuDNN promises no order for it. In 16 bits cuDNN writes the filters' gradient in their type; then
// it is widened.

#include <utility>

#include "formats/error.h"
#include "trainer/backends/cuda/columns.cuh"
#include "trainer/backends/cuda/conv_choice.cuh"
#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/check.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cuda {
namespace {

using Tensor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using Filter = Owned<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;

template <class T>
constexpr cudnnTensorFormat_t format = interleaved<T> ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;

template <class T>
Tensor make_tensor(std::int64_t images, const Extent& extent) {
  auto tensor = make<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>(
      "cudnnCreateTensorDescriptor", cudnnCreateTensorDescriptor);
  check(cudnnSetTensor4dDescriptor(tensor.get(), format<T>, cudnn_type<T>, dimension(images),
                                   dimension(extent.channels), dimension(extent.height),
                                   dimension(extent.width)),
        "cudnnSetTensor4dDescriptor");
  return tensor;
}

template <class T>
Filter make_filter(std::int64_t filters, std::int64_t channels, std::int64_t kernel) {
  auto filter = make<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>(
      "cudnnCreateFilterDescriptor", cudnnCreateFilterDescriptor);
  check(cudnnSetFilter4dDescriptor(filter.get(), cudnn_type<T>, format<T>, dimension(filters),
                                   dimension(channels), dimension(kernel), dimension(kernel)),
        "cudnnSetFilter4dDescriptor");
  return filter;
}

constexpr unsigned sum_threads = 512;

// One block a channel. A warp takes an image's plane at a time, so nothing is divided.
__global__ void bias_gradient_kernel(std::int64_t images, std::int64_t plane, const float* dy,
                                     float* gradient) {
  const std::int64_t channel = blockIdx.x;
  const std::int64_t channels = gridDim.x;
  float sum = 0;
  for (std::int64_t image = threadIdx.x / warp_threads; image < images;
       image += sum_threads / warp_threads) {
    const float* values = dy + (image * channels + channel) * plane;
    for (std::int64_t p = threadIdx.x % warp_threads; p < plane; p += warp_threads) {
      sum += values[p];
    }
  }
  sum = block_sum<sum_threads>(sum);
  if (threadIdx.x == 0) gradient[channel] = sum;
}

// Interleaved: `lanes` channels a thread.
template <class T, unsigned lanes>
struct AddBias {
  const float* bias;
  T* y;
  bool then_relu;
  struct Column {
    T* y;
    bool then_relu;
    float bias[lanes];
    __device__ void operator()(std::int64_t, std::int64_t i) const {
      auto values = load<T, lanes>(y + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const float value = values.values[k] + bias[k];
        values.values[k] = then_relu ? relu(value) : value;
      }
      store(y + i, values);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{y, then_relu, {}};
    for (unsigned k = 0; k < lanes; ++k) column.bias[k] = bias[c + k];
    return column;
  }
};

template <class T, unsigned lanes>
struct SumGradients {
  const T* dy;
  __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<float>* sums) const {
    const auto values = load<T, lanes>(dy + i);
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
class ConvOp final : public CudaOpOf<T> {
 public:
  explicit ConvOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        out_(site.node.extent),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.size() > 1 ? site.parameters[1] : DeviceParameter{}),
        filter_values_(out_.channels * site.stored.channels / groups_of(site.node.attributes) *
                       site.node.attributes.integer("kernel") *
                       site.node.attributes.integer("kernel")),
        relu_follows_(site.relu_follows),
        x_(make_tensor<T>(site.batch, site.stored)),
        y_(make_tensor<T>(site.batch, out_)),
        bias_tensor_(make_tensor<T>(1, {out_.channels, 1, 1})),
        filter_(make_filter<T>(out_.channels,
                               site.stored.channels / groups_of(site.node.attributes),
                               site.node.attributes.integer("kernel"))) {
    auto choice = choose_convolution(site, {x_.get(), filter_.get(), y_.get()});
    forward_ = std::move(choice.forward);
    data_ = std::move(choice.data);
    filters_ = std::move(choice.filters);
  }

  /// With the bias, where that is a kernel of our own.
  bool does_relu() const override {
    return interleaved<T> && relu_follows_ && bias_.value != nullptr;
  }
  std::size_t workspace_bytes() const override {
    const std::size_t libraries =
        std::max({forward_.workspace, data_.workspace, filters_.workspace});
    if (!interleaved<T>) return libraries;
    return filter_bytes() +
           std::max(libraries, column_workspace<T>(context_, rows(), out_.channels));
  }

 protected:
  void run(const PlaceOf<T>& place, const Step& step) override {
    const float one = 1;
    const float zero = 0;
    check(cudnnConvolutionForward(context_.cudnn(), &one, x_.get(), place.x, filter_.get(),
                                  weight_.as<T>(), forward_.convolution.get(), forward_.algorithm,
                                  place.workspace, forward_.workspace, &zero, y_.get(), place.y),
          "cudnnConvolutionForward");
    if (bias_.value != nullptr) add_bias(place, step);
  }

  void run_back(const PlaceOf<T>& place, const Step&) override {
    if (bias_.gradient != nullptr) sum_bias_gradient(place);
    find_filter_gradient(place);
    if (place.dx == nullptr) return;
    const float one = 1;
    const float zero = 0;
    check(cudnnConvolutionBackwardData(context_.cudnn(), &one, filter_.get(), weight_.as<T>(),
                                       y_.get(), place.dy, data_.convolution.get(), data_.algorithm,
                                       place.workspace, data_.workspace, &zero, x_.get(), place.dx),
          "cudnnConvolutionBackwardData");
  }

 private:
  std::int64_t rows() const { return batch_ * out_.height * out_.width; }
  std::size_t filter_bytes() const {
    const std::size_t bytes = static_cast<std::size_t>(filter_values_) * sizeof(T);
    return (bytes + device_alignment - 1) / device_alignment * device_alignment;
  }

  void add_bias(const PlaceOf<T>& place, [[maybe_unused]] const Step& step) const {
    if constexpr (interleaved<T>) {
      with_lanes<T>(out_.channels, [&](auto lanes) {
        each_of_columns<lanes>(context_, "conv bias", rows(), out_.channels,
                               AddBias<T, lanes>{bias_.value, place.y, does_relu() && !step.apart});
      });
    } else {
      const float one = 1;
      check(cudnnAddTensor(context_.cudnn(), &one, bias_tensor_.get(), bias_.value, &one, y_.get(),
                           place.y),
            "cudnnAddTensor");
    }
  }

  void sum_bias_gradient(const PlaceOf<T>& place) const {
    if constexpr (interleaved<T>) {
      with_lanes<T>(out_.channels, [&](auto lanes) {
        sum_columns<lanes>(context_, "conv bias gradient", rows(), out_.channels,
                           SumGradients<T, lanes>{place.dy}, WriteGradient{bias_.gradient},
                           place.workspace);
      });
    } else {
      launch(context_, "conv bias gradient", bias_gradient_kernel,
             static_cast<unsigned>(out_.channels), sum_threads, batch_, out_.height * out_.width,
             place.dy, bias_.gradient);
    }
  }

  void find_filter_gradient(const PlaceOf<T>& place) const {
    const float one = 1;
    const float zero = 0;
    void* gradient = weight_.gradient;
    std::byte* workspace = place.workspace;
    if constexpr (interleaved<T>) {
      gradient = place.workspace;
      workspace += filter_bytes();
    }
    check(cudnnConvolutionBackwardFilter(context_.cudnn(), &one, x_.get(), place.x, y_.get(),
                                         place.dy, filters_.convolution.get(), filters_.algorithm,
                                         workspace, filters_.workspace, &zero, filter_.get(),
                                         gradient),
          "cudnnConvolutionBackwardFilter");
    if constexpr (interleaved<T>) {
      convert(context_, "conv filter gradient", filter_values_, static_cast<const T*>(gradient),
              weight_.gradient);
    }
  }

  const Context& context_;
  std::int64_t batch_;
  Extent out_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  std::int64_t filter_values_;
  bool relu_follows_;
  Tensor x_;
  Tensor y_;
  Tensor bias_tensor_;
  Filter filter_;
  ConvDirection<cudnnConvolutionFwdAlgo_t> forward_;
  ConvDirection<cudnnConvolutionBwdDataAlgo_t> data_;
  ConvDirection<cudnnConvolutionBwdFilterAlgo_t> filters_;
};

}  // namespace

std::unique_ptr<CudaOp> conv_cuda(const OpSite& site) { return make_typed<ConvOp>(site); }

}  // namespace feedrate::cuda
