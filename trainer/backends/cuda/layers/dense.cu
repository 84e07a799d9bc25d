// A fully connected layer by cuBLASLt. cuBLASLt is column-major and our tensors are row-major, so
// it sees their transposes: x (images × in) as in × images, the weight (out × in) as in × out.

#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/matmul.cuh"

namespace feedrate::trainer::cuda {
namespace {

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
        // dW = dy·xᵀ, transposed
        weights_(site.context, site.node().name,
                 {.a = {site.input.elements(), batch_, Matrix::as_is},
                  .b = {units_, batch_, Matrix::transposed},
                  .factors = blas_type<T>}) {}

  bool does_relu() const override { return forward_and_relu_ != nullptr; }
  std::size_t scratch_bytes() const override {
    return std::max({does_relu() ? forward_and_relu_->workspace_bytes() : 0,
                     forward_.workspace_bytes(), data_.workspace_bytes()});
  }
  std::size_t weights_scratch_bytes() const override {
    return std::max(weights_.workspace_bytes(), column_scratch<T, 1>(context_, batch_, units_));
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    const Matmul& forward = does_relu() && !step.unfused ? *forward_and_relu_ : forward_;
    forward.run(weight_.as<T>(), buffers.input, buffers.output, buffers.scratch);
  }
  void run_backward_weights(const BuffersOf<T>& buffers) override {
    sum_rows(context_, "dense bias gradient", batch_, units_, buffers.output_gradient,
             bias_.gradient, buffers.scratch);
    weights_.run(buffers.input, buffers.output_gradient, weight_.gradient, buffers.scratch);
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient != nullptr) {
      data_.run(weight_.as<T>(), buffers.output_gradient, buffers.input_gradient, buffers.scratch);
    }
  }

 private:
  // Not in fp32: another epilogue could change the algorithm, and so the bits.
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
  std::unique_ptr<Matmul> forward_and_relu_;  // in 16 bits, if a relu follows
  Matmul data_;
  Matmul weights_;
};

}  // namespace

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  return make_typed<DenseLayer>(site);
}

}  // namespace feedrate::trainer::cuda
