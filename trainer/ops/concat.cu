// The channels of several inputs behind one another: a run of each image for each input.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::cuda {
namespace {

// `run` values of every image, from images that are `from_stride` apart to such `to_stride` apart.
struct CopyRuns {
  const float* from;
  float* to;
  std::int64_t from_stride;
  std::int64_t to_stride;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    to[image * to_stride + e] = from[image * from_stride + e];
  }
};

class ConcatOp final : public CudaOp {
 public:
  explicit ConcatOp(const OpSite& site)
      : context_(site.context), batch_(site.batch), size_(site.node.extent.elements()) {
    for (const Extent& in : site.ins) sizes_.push_back(in.elements());
  }

  void forward(const Place& place, const Step&) override {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      each_of_images(context_, "concat forward", batch_, sizes_[k],
                     CopyRuns{place.xs[k], place.y + first, sizes_[k], size_});
      first += sizes_[k];
    }
  }
  void backward(const Place& place, const Step&) override {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      if (place.dxs[k] != nullptr) {
        each_of_images(context_, "concat backward", batch_, sizes_[k],
                       CopyRuns{place.dy + first, place.dxs[k], size_, sizes_[k]});
      }
      first += sizes_[k];
    }
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  std::int64_t size_;                // of an image's output
  std::vector<std::int64_t> sizes_;  // of its inputs
};

}  // namespace

std::unique_ptr<CudaOp> concat_cuda(const OpSite& site) { return std::make_unique<ConcatOp>(site); }

}  // namespace feedrate::cuda
