#pragma once
// An operator of each value by itself, in place where the plan allows: what activations are.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {

/// `Rule`: Forward, the output of (i, input); Backward, the input's gradient of (i, the output's,
/// output); and what their kernels are called.
template <class T, class Rule>
class PointwiseLayer final : public LayerOf<T> {
 public:
  explicit PointwiseLayer(const LayerSite& site)
      : context_(site.context), count_(site.batch * site.input.elements()) {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    map(context_, Rule::forward, count_, buffers.output, typename Rule::Forward{}, buffers.input);
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    map(context_, Rule::backward, count_, buffers.input_gradient, typename Rule::Backward{},
        buffers.output_gradient, buffers.output);
  }

 private:
  const Context& context_;
  std::int64_t count_;
};

}  // namespace feedrate::trainer::cuda
