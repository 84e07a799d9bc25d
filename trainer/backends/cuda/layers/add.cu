// a + b, in place of a where the plan allows, and the relu that follows in place.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

struct Plus {
  bool then_relu = false;
  __device__ float operator()(std::int64_t, float value, float other) const {
    const float sum = value + other;
    return then_relu ? relu(sum) : sum;
  }
};

template <class T>
class AddOp final : public CudaOpOf<T> {
 public:
  explicit AddOp(const OpSite& site)
      : context_(site.context),
        count_(site.batch * site.in.elements()),
        relu_follows_(site.relu_follows) {}

  bool does_relu() const override { return relu_follows_; }

 protected:
  void run(const PlaceOf<T>& place, const Step& step) override {
    map(context_, "add forward", count_, place.y, Plus{relu_follows_ && !step.apart}, place.x,
        place.input(1));
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    for (std::size_t k = 0; k < 2; ++k) {
      T* dx = place.input_gradient(k);
      if (dx == nullptr || dx == place.dy) continue;
      check(cudaMemcpyAsync(dx, place.dy, static_cast<std::size_t>(count_) * sizeof(T),
                            cudaMemcpyDeviceToDevice, context_.compute()),
            "cudaMemcpyAsync");
    }
  }

 private:
  const Context& context_;
  std::int64_t count_;
  bool relu_follows_;
};

}  // namespace

void add_into(const Context& context, std::byte* to, const std::byte* from, std::int64_t size) {
  with_type(context.values(), [&](auto value) {
    using T = decltype(value);
    auto* sum = reinterpret_cast<T*>(to);
    map(context, "gradient sum", size, sum, Plus{}, sum, reinterpret_cast<const T*>(from));
  });
}

std::unique_ptr<CudaOp> add_cuda(const OpSite& site) { return make_typed<AddOp>(site); }

}  // namespace feedrate::trainer::cuda
