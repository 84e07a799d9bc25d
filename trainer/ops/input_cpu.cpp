#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cpu {
namespace {

FEEDRATE_VECTOR void scale_pixels(const std::uint8_t* pixels, std::int64_t size, float scale,
                                  float mean, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = scaled_pixel(pixels[i], scale, mean);
}

// Pixels come channels last and stay so.
class InputLayer final : public Layer {
 public:
  explicit InputLayer(const LayerSite& site)
      : Layer(site, Layout::channels_last(site.node().extent)),
        scale_(static_cast<float>(site.node().attributes.number("scale"))),
        mean_(static_cast<float>(site.node().attributes.number("mean"))),
        threads_(site.threads) {}

  void forward(const Pass& pass) override {
    const auto size = static_cast<std::int64_t>(pass.pixels.size());
    on_shares(threads_, size, 64, [&](const Range& range) {
      scale_pixels(pass.pixels.data() + range.begin, range.size(), scale_, mean_,
                   buffers().output + range.begin);
    });
  }
  void backward(const Pass&) override {}

 private:
  float scale_, mean_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_input_layer(const LayerSite& site) {
  return std::make_unique<InputLayer>(site);
}

}  // namespace feedrate::cpu
