// Fully connected by cuBLASLt. It counts matrices by columns, so our row-major tensors are their
// own transposes there: x (images × in) is In × N, the weight (out × in) is In × Out.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/matmul.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::cuda {
namespace {

// A thread a unit: neighbours read neighbours, and each sum has one order.
template <class T>
__global__ void bias_gradient_kernel(std::int64_t images, std::int64_t units, const T* dy,
                                     float* gradient) {
  const std::int64_t unit = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= units) return;
  float sum = 0;
  for (std::int64_t image = 0; image < images; ++image) {
    sum += static_cast<float>(dy[image * units + unit]);
  }
  gradient[unit] = sum;
}

template <class T>
class DenseOp final : public CudaOpOf<T> {
 public:
  explicit DenseOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        units_(site.node.extent.elements()),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.at(1)),
        // y = W·x + b
        forward_(site.context, site.node.name,
                 {.a = {site.in.elements(), units_, Matrix::transposed},
                  .b = {site.in.elements(), batch_, Matrix::as_is},
                  .bias = bias_.as<T>(),
                  .factors = blas_type<T>,
                  .result = blas_type<T>}),
        // dx = Wᵀ·dy
        data_(site.context, site.node.name,
              {.a = {site.in.elements(), units_, Matrix::as_is},
               .b = {units_, batch_, Matrix::as_is},
               .factors = blas_type<T>,
               .result = blas_type<T>}),
        // dW = dy·xᵀ, here transposed
        weights_(site.context, site.node.name,
                 {.a = {site.in.elements(), batch_, Matrix::as_is},
                  .b = {units_, batch_, Matrix::transposed},
                  .factors = blas_type<T>}) {}

  std::size_t workspace_bytes() const override {
    return std::max(
        {forward_.workspace_bytes(), data_.workspace_bytes(), weights_.workspace_bytes()});
  }

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    forward_.run(weight_.as<T>(), place.x, place.y, place.workspace);
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    const auto blocks = static_cast<unsigned>((units_ + block_threads - 1) / block_threads);
    launch(context_, "dense bias gradient", bias_gradient_kernel<T>, blocks, block_threads, batch_,
           units_, place.dy, bias_.gradient);
    weights_.run(place.x, place.dy, weight_.gradient, place.workspace);
    if (place.dx != nullptr) data_.run(weight_.as<T>(), place.dy, place.dx, place.workspace);
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  std::int64_t units_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  Matmul forward_;
  Matmul data_;
  Matmul weights_;
};

}  // namespace

std::unique_ptr<CudaOp> dense_cuda(const OpSite& site) { return make_typed<DenseOp>(site); }

}  // namespace feedrate::cuda
