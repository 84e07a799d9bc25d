#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/relayout.h"
#include "trainer/backends/cpu/values/relu_values.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// The three may be the same memory.
FEEDRATE_VECTOR void add_all(const float* a, const float* b, std::int64_t size, float* sum) {
  for (std::int64_t i = 0; i < size; ++i) sum[i] = a[i] + b[i];
}

FEEDRATE_VECTOR void add_and_relu(const float* a, const float* b, std::int64_t size, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = relu(a[i] + b[i]);
}

FEEDRATE_VECTOR void relu_gradients_twice(const float* gradient, const float* output,
                                          std::int64_t size, float* to, float* other) {
  for (std::int64_t i = 0; i < size; ++i) {
    to[i] = relu_gradient(gradient[i], output[i]);
    other[i] = to[i];
  }
}

// The sum has the layout of the first input; the second input is converted to it where it differs.
class AddLayer final : public Layer {
 public:
  explicit AddLayer(const LayerSite& site)
      : Layer(site, site.input),
        other_(site.inputs[1]),
        batch_(site.batch),
        relu_follows_(site.relu_follows && other_ == site.input),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {}

  bool does_relu() const override { return relu_follows_; }

  std::size_t scratch_bytes() const override {
    return same_layout() ? 0 : static_cast<std::size_t>(size() * threads_) * sizeof(float);
  }

  void forward(const Step& step) override {
    const bool with_relu = relu_follows_ && !step.relu_separate;
    on_threads(threads_, [&](unsigned thread) {
      float* moved = reinterpret_cast<float*>(buffers().scratch) + thread * size();
      const Range range = share_of(batch_, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        const float* b = buffers().inputs[1] + image * other_.elements();
        if (!same_layout()) relayout(b, other_, moved, output());
        const float* a = buffers().input + image * size();
        float* out = buffers().output + image * size();
        with_relu ? add_and_relu(a, b, size(), out)
                  : add_all(a, same_layout() ? b : moved, size(), out);
      }
    });
  }

  void backward(const Step&) override {
    on_shares(threads_, batch_, 1, [this](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        if (relu_follows_) {
          through_relu(image * size());
          continue;
        }
        const float* gradient = buffers().output_gradient + image * size();
        float* to = buffers().input_gradient;
        if (to != nullptr && to != buffers().output_gradient) {
          std::copy_n(gradient, size(), to + image * size());
        }
        float* other = buffers().input_gradients[1];
        if (other != nullptr) {
          relayout(gradient, output(), other + image * other_.elements(), other_);
        }
      }
    });
  }

 private:
  // The gradients of one image, at the same offset in both inputs.
  void through_relu(std::int64_t at) const {
    const float *gradient = buffers().output_gradient + at, *out = buffers().output + at;
    float *to = buffers().input_gradients[0], *other = buffers().input_gradients[1];
    if (to != nullptr && other != nullptr) {
      relu_gradients_twice(gradient, out, size(), to + at, other + at);
    } else if (to != nullptr || other != nullptr) {
      relu_gradients(gradient, out, size(), (to != nullptr ? to : other) + at);
    }
  }

  bool same_layout() const { return other_ == output(); }
  std::int64_t size() const { return output().elements(); }

  Layout other_;
  std::int64_t batch_;
  bool relu_follows_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_add_layer(const LayerSite& site) {
  return std::make_unique<AddLayer>(site);
}

}  // namespace feedrate::trainer::cpu
