// a + b, in place of a where the plan allows. Forward also computes a relu that follows in place.
// Backward copies the gradient for the inputs that do not read it where it lies.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/layers/block_end.cuh"
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
class AddLayer final : public LayerOf<T> {
 public:
  explicit AddLayer(const LayerSite& site)
      : context_(site.context),
        count_(site.batch * site.input.elements()),
        relu_follows_(site.relu_follows) {}

  bool does_relu() const override { return relu_follows_; }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    map(context_, "add forward", count_, buffers.output, Plus{relu_follows_ && !step.unfused},
        buffers.input, buffers.inputs(1));
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    for (std::size_t k = 0; k < 2; ++k) {
      T* input_gradient = buffers.input_gradients(k);
      if (input_gradient == nullptr || input_gradient == buffers.output_gradient) continue;
      copy_values(context_, count_, buffers.output_gradient, input_gradient);
    }
  }

 private:
  const Context& context_;
  std::int64_t count_;
  bool relu_follows_;
};

}  // namespace

void add_values(const Context& context, const std::byte* from, std::int64_t size, std::byte* to) {
  with_type(context.values(), [&](auto value) {
    using T = decltype(value);
    auto* sum = reinterpret_cast<T*>(to);
    map(context, "gradient sum", size, sum, Plus{}, sum, reinterpret_cast<const T*>(from));
  });
}

std::unique_ptr<Layer> make_sum_layer(const LayerSite& site) { return make_typed<AddLayer>(site); }

std::unique_ptr<Layer> make_add_layer(const LayerSite& site) {
  return site.block_end == nullptr ? make_sum_layer(site) : make_block_end_layer(site);
}

}  // namespace feedrate::trainer::cuda
