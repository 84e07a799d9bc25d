// Fully connected by cuBLASLt. It counts matrices by columns, so our row-major tensors are their
// own transposes there: x (images × in) is In × N, the weight (out × in) is In × Out.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/matmul.cuh"

namespace feedrate::trainer::cuda {
namespace {

// A thread a unit: neighbours read neighbours, and each sum has one order.
template <class T>
__global__ void bias_gradient_kernel(std::int64_t images, std::int64_t units,
                                     const T* output_gradient, float* gradient) {
  const std::int64_t unit = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= units) return;
  float sum = 0;
  for (std::int64_t image = 0; image < images; ++image) {
    sum += static_cast<float>(output_gradient[image * units + unit]);
  }
  gradient[unit] = sum;
}

template <class T>
class DenseLayer final : public LayerOf<T> {
 public:
  explicit DenseLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        units_(site.node().extent.elements()),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.at(1)),
        // y = W·x + b
        forward_(site.context, site.node().name,
                 {.a = {site.input.elements(), units_, Matrix::transposed},
                  .b = {site.input.elements(), batch_, Matrix::as_is},
                  .bias = bias_.as<T>(),
                  .factors = blas_type<T>,
                  .result = blas_type<T>}),
        forward_and_relu_(with_relu(site)),
        // dx = Wᵀ·dy
        data_(site.context, site.node().name,
              {.a = {site.input.elements(), units_, Matrix::as_is},
               .b = {units_, batch_, Matrix::as_is},
               .factors = blas_type<T>,
               .result = blas_type<T>}),
        // dW = dy·xᵀ, here transposed
        weights_(site.context, site.node().name,
                 {.a = {site.input.elements(), batch_, Matrix::as_is},
                  .b = {units_, batch_, Matrix::transposed},
                  .factors = blas_type<T>}) {}

  bool does_relu() const override { return forward_and_relu_ != nullptr; }
  std::size_t scratch_bytes() const override {
    return std::max({does_relu() ? forward_and_relu_->workspace_bytes() : 0,
                     forward_.workspace_bytes(), data_.workspace_bytes(),
                     weights_.workspace_bytes()});
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    const Matmul& forward = does_relu() && !step.relu_separate ? *forward_and_relu_ : forward_;
    forward.run(weight_.as<T>(), buffers.input, buffers.output, buffers.scratch);
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    const auto blocks = static_cast<unsigned>((units_ + block_threads - 1) / block_threads);
    launch(context_, "dense bias gradient", bias_gradient_kernel<T>, blocks, block_threads, batch_,
           units_, buffers.output_gradient, bias_.gradient);
    weights_.run(buffers.input, buffers.output_gradient, weight_.gradient, buffers.scratch);
    if (buffers.input_gradient != nullptr) {
      data_.run(weight_.as<T>(), buffers.output_gradient, buffers.input_gradient, buffers.scratch);
    }
  }

 private:
  // In fp32 another epilogue might bring another algorithm, and other bits.
  std::unique_ptr<Matmul> with_relu(const LayerSite& site) const {
    if (!narrow<T> || !site.relu_follows) return nullptr;
    return std::make_unique<Matmul>(
        site.context, site.node().name,
        Product{.a = {site.input.elements(), units_, Matrix::transposed},
                .b = {site.input.elements(), batch_, Matrix::as_is},
                .bias = bias_.as<T>(),
                .then_relu = true,
                .factors = blas_type<T>,
                .result = blas_type<T>});
  }

  const Context& context_;
  std::int64_t batch_;
  std::int64_t units_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  Matmul forward_;
  std::unique_ptr<Matmul> forward_and_relu_;  // where a relu follows in 16 bits
  Matmul data_;
  Matmul weights_;
};

}  // namespace

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  return make_typed<DenseLayer>(site);
}

}  // namespace feedrate::trainer::cuda
