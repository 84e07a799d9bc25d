#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// For values that lie in memory in canonical order.
template <class T>
FEEDRATE_VECTOR void drop_run(const T* in, std::int64_t size, const DropoutMask& mask,
                              std::uint64_t first, T* out) {
  for (std::int64_t i = 0; i < size; ++i) {
    out[i] = T(in[i] * mask.factor(first + static_cast<std::uint64_t>(i)));
  }
}

template <class T>
class DropoutLayer final : public LayerOf<T> {
 public:
  explicit DropoutLayer(const LayerSite& site)
      : LayerOf<T>(site, site.input),
        batch_(site.batch),
        seed_(site.seed),
        number_(site.number),
        share_(static_cast<float>(site.node().attributes.number("share"))),
        threads_(site.threads) {}

  void forward(const Step& step) override {
    if (step.training) {
      drop(step, buffers().input, buffers().output);
    } else if (buffers().input != buffers().output) {
      std::copy_n(buffers().input, batch_ * output().elements(), buffers().output);
    }
  }
  void backward(const Step& step) override {
    drop(step, buffers().output_gradient, buffers().input_gradient);
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  void drop(const Step& step, const T* in, T* out) const {
    const DropoutMask mask(seed_, step.number, number_, share_);
    on_shares(threads_, batch_, 1, [&](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        const std::int64_t offset = image * output().elements();
        drop_image(in + offset, mask, image, out + offset);
      }
    });
  }

  void drop_image(const T* in, const DropoutMask& mask, std::int64_t image, T* out) const {
    const Extent& extent = output().extent;
    const auto first = static_cast<std::uint64_t>(image * extent.elements());
    if (output().block == 1 || output().pixels() == 1) {
      return drop_run(in, extent.elements(), mask, first, out);
    }
    // Padding channels are zero already.
    for (std::int64_t channel = 0; channel < extent.channels; ++channel) {
      for (std::int64_t pixel = 0; pixel < output().pixels(); ++pixel) {
        const std::int64_t i = output().offset(channel, pixel);
        const auto element = static_cast<std::uint64_t>(channel * output().pixels() + pixel);
        out[i] = T(in[i] * mask.factor(first + element));
      }
    }
  }

  std::int64_t batch_;
  std::uint64_t seed_;
  std::uint64_t number_;
  float share_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_dropout_layer(const LayerSite& site) {
  return make_typed<DropoutLayer>(site);
}

}  // namespace feedrate::trainer::cpu
