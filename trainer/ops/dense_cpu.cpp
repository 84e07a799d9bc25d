#include <algorithm>

#include "trainer/backends/cpu/gemm.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"

namespace feedrate::cpu {
namespace {

FEEDRATE_VECTOR void sum_columns(const float* values, std::int64_t rows, std::int64_t stride,
                                 std::int64_t columns, float* sums) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += values[row * stride + i];
  }
}

// Weights lie as [unit][input as it lies in memory], filling channels included: those meet zeros
// and stay zero.
class DenseLayer final : public Layer {
 public:
  explicit DenseLayer(const LayerSite& site)
      : Layer(site, {site.node().extent, 1}),
        input_(site.input),
        batch_(site.batch),
        units_(site.node().extent.channels),
        threads_(site.threads) {}

  void forward(const Pass&) override {
    for (std::int64_t image = 0; image < batch_; ++image) {
      std::copy_n(buffers().parameters[1], units_, buffers().output + image * units_);
    }
    run_shared({.m = batch_,
                .n = units_,
                .k = input_.elements(),
                .a = {buffers().input, input_.elements()},
                .b = {buffers().parameters[0], input_.elements(), true},
                .keep = 1,
                .c = buffers().output,
                .stride = units_},
               threads_);
  }

  void backward(const Pass&) override {
    const Matrix gradient = {buffers().output_gradient, units_};
    on_shares(threads_, units_, 16, [&](const Range& range) {
      sum_columns(gradient.data + range.begin, batch_, units_, range.size(),
                  buffers().gradients[1] + range.begin);
    });
    run_shared({.m = units_,
                .n = input_.elements(),
                .k = batch_,
                .a = {gradient.data, units_, true},
                .b = {buffers().input, input_.elements()},
                .keep = 0,
                .c = buffers().gradients[0],
                .stride = input_.elements()},
               threads_);
    if (buffers().input_gradient == nullptr) return;
    run_shared({.m = batch_,
                .n = input_.elements(),
                .k = units_,
                .a = gradient,
                .b = {buffers().parameters[0], input_.elements()},
                .keep = 0,
                .c = buffers().input_gradient,
                .stride = input_.elements()},
               threads_);
  }

  std::size_t own_size(std::size_t k) const override {
    return k == 0 ? static_cast<std::size_t>(units_ * input_.elements()) : Layer::own_size(k);
  }
  void to_own(std::size_t k, std::span<const float> canonical, float* own) const override {
    if (k != 0) return Layer::to_own(k, canonical, own);
    std::fill_n(own, own_size(0), 0.0F);
    each_weight([&](std::int64_t mine, std::int64_t theirs) {
      own[mine] = canonical[static_cast<std::size_t>(theirs)];
    });
  }
  void from_own(std::size_t k, const float* own, std::span<float> canonical) const override {
    if (k != 0) return Layer::from_own(k, own, canonical);
    each_weight([&](std::int64_t mine, std::int64_t theirs) {
      canonical[static_cast<std::size_t>(theirs)] = own[mine];
    });
  }

 private:
  template <class Use>
  void each_weight(const Use& use) const {
    const Extent& extent = input_.extent;
    for (std::int64_t unit = 0; unit < units_; ++unit) {
      for (std::int64_t channel = 0; channel < extent.channels; ++channel) {
        for (std::int64_t pixel = 0; pixel < input_.pixels(); ++pixel) {
          use(unit * input_.elements() + input_.offset(channel, pixel),
              unit * extent.elements() + channel * input_.pixels() + pixel);
        }
      }
    }
  }

  Layout input_;
  std::int64_t batch_, units_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_dense_layer(const LayerSite& site) {
  return std::make_unique<DenseLayer>(site);
}

}  // namespace feedrate::cpu
