#pragma once
// An operator of each value by itself, in place where the plan allows: what activations are.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::trainer::cuda {

/// `Rule`: Forward, y of (i, x); Backward, dx of (i, dy, y); and what their kernels are called.
template <class T, class Rule>
class PointwiseOp final : public CudaOpOf<T> {
 public:
  explicit PointwiseOp(const OpSite& site)
      : context_(site.context), count_(site.batch * site.in.elements()) {}

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    map(context_, Rule::forward, count_, place.y, typename Rule::Forward{}, place.x);
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    if (place.dx == nullptr) return;
    map(context_, Rule::backward, count_, place.dx, typename Rule::Backward{}, place.dy, place.y);
  }

 private:
  const Context& context_;
  std::int64_t count_;
};

}  // namespace feedrate::trainer::cuda
