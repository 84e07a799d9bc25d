#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cpu {
namespace {

// Input and output may be the same memory: each value depends on the one in its own place alone.
FEEDRATE_VECTOR void relu_all(const float* in, std::int64_t size, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = relu(in[i]);
}

FEEDRATE_VECTOR void relu_gradient_all(const float* gradient, const float* output,
                                       std::int64_t size, float* input_gradient) {
  for (std::int64_t i = 0; i < size; ++i) {
    input_gradient[i] = relu_gradient(gradient[i], output[i]);
  }
}

class ReluLayer final : public Layer {
 public:
  explicit ReluLayer(const LayerSite& site)
      : Layer(site, site.input),
        size_(site.batch * site.input.elements()),
        threads_(site.threads) {}

  void forward(const Pass&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      relu_all(buffers().input + range.begin, range.size(), buffers().output + range.begin);
    });
  }
  void backward(const Pass&) override {
    on_shares(threads_, size_, 64, [&](const Range& range) {
      relu_gradient_all(buffers().output_gradient + range.begin, buffers().output + range.begin,
                        range.size(), buffers().input_gradient + range.begin);
    });
  }

 private:
  std::int64_t size_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_relu_layer(const LayerSite& site) {
  return std::make_unique<ReluLayer>(site);
}

}  // namespace feedrate::cpu
