#include <cmath>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/tanh.h"

namespace feedrate::cpu {
namespace {

// Input and output may be the same memory: each value depends on the one in its own place alone.
class TanhLayer final : public Layer {
 public:
  explicit TanhLayer(const LayerSite& site)
      : Layer(site, site.input),
        size_(site.batch * site.input.elements()),
        threads_(site.threads) {}

  void forward(const Pass&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        buffers().output[i] = std::tanh(buffers().input[i]);
      }
    });
  }
  void backward(const Pass&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        buffers().input_gradient[i] =
            tanh_gradient(buffers().output_gradient[i], buffers().output[i]);
      }
    });
  }

 private:
  std::int64_t size_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_tanh_layer(const LayerSite& site) {
  return std::make_unique<TanhLayer>(site);
}

}  // namespace feedrate::cpu
