#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/backends/cpu/relayout.h"

namespace feedrate::cpu {
namespace {

// Any of the three may be the same memory.
FEEDRATE_VECTOR void add_all(const float* a, const float* b, std::int64_t size, float* sum) {
  for (std::int64_t i = 0; i < size; ++i) sum[i] = a[i] + b[i];
}

// The sum lies as the first input does; a second that lies otherwise is brought there first.
class AddLayer final : public Layer {
 public:
  explicit AddLayer(const LayerSite& site)
      : Layer(site, site.input),
        other_(site.inputs[1]),
        batch_(site.batch),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {}

  std::size_t scratch_bytes() const override {
    return alike() ? 0 : static_cast<std::size_t>(size() * threads_) * sizeof(float);
  }

  void forward(const Pass&) override {
    on_threads(threads_, [this](unsigned thread) {
      float* moved = reinterpret_cast<float*>(buffers().scratch) + thread * size();
      const Range range = share_of(batch_, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        const float* b = buffers().inputs[1] + image * other_.elements();
        if (!alike()) relayout(b, other_, moved, output());
        add_all(buffers().input + image * size(), alike() ? b : moved, size(),
                buffers().output + image * size());
      }
    });
  }

  void backward(const Pass&) override {
    on_shares(threads_, batch_, 1, [this](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
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
  bool alike() const { return other_ == output(); }
  std::int64_t size() const { return output().elements(); }

  Layout other_;
  std::int64_t batch_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_add_layer(const LayerSite& site) {
  return std::make_unique<AddLayer>(site);
}

}  // namespace feedrate::cpu
