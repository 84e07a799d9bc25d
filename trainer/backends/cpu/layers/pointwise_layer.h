#pragma once
// An operator on single values, such as an activation, in place where the plan allows.

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {

/// `forward(in, size, out)` and `backward(output_gradient, output, size, input_gradient)`.
template <class T, auto forward_values, auto backward_values>
class PointwiseLayer final : public LayerOf<T> {
 public:
  explicit PointwiseLayer(const LayerSite& site)
      : LayerOf<T>(site, site.input),
        size_(site.batch * site.input.elements()),
        threads_(site.threads) {}

  void forward(const Step&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      forward_values(buffers().input + range.begin, range.size(), buffers().output + range.begin);
    });
  }
  void backward(const Step&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      backward_values(buffers().output_gradient + range.begin, buffers().output + range.begin,
                      range.size(), buffers().input_gradient + range.begin);
    });
  }

 private:
  using LayerOf<T>::buffers;

  std::int64_t size_;
  unsigned threads_;
};

}  // namespace feedrate::trainer::cpu
