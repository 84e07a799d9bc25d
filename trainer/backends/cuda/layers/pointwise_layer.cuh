#pragma once
// An activation: an operator on each value alone, in place where the plan allows.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {

/// `Rule` holds two functors and the names of their kernels: Forward(i, input) returns the output,
/// Backward(i, output gradient, output) the input gradient.
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
