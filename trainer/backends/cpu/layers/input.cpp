#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/pixels.h"

namespace feedrate::trainer::cpu {
using namespace loader;

namespace {

template <class T>
FEEDRATE_VECTOR void scale_pixels(const std::uint8_t* pixels, std::int64_t size, float scale,
                                  float mean, T* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = T(scaled_pixel(pixels[i], scale, mean));
}

template <class T>
FEEDRATE_VECTOR void scale_channel(const std::uint8_t* pixels, std::int64_t channels,
                                   std::int64_t size, float scale, float mean, T* out) {
  for (std::int64_t i = 0; i < size; ++i) {
    out[i] = T(scaled_pixel(pixels[i * channels], scale, mean));
  }
}

// Pixels come channels last; those of colour images are split into planes, as oneDNN wants them.
// Where the loader has scaled the pixels, there are none: in fp32, the session has already stored
// the loader's floats as the output.
template <class T>
class InputLayer final : public LayerOf<T> {
 public:
  explicit InputLayer(const LayerSite& site)
      : LayerOf<T>(site, {site.node().extent, 1}),
        scales_(pixel_scales(site.node().attributes)),
        threads_(site.threads) {}

  void forward(const Step& step) override {
    if (step.pixels.empty()) return take_numbers(step);
    const auto size = static_cast<std::int64_t>(step.pixels.size());
    const std::int64_t image_size = output().elements();
    if (output().extent.channels == 1) {
      return on_shares(threads_, size, 64, [&](const Range& range) {
        scale_pixels(step.pixels.data() + range.begin, range.size(), scales_[0].scale,
                     scales_[0].mean, buffers().output + range.begin);
      });
    }
    on_shares(threads_, size / image_size, 1, [&](const Range& images) {
      for (std::int64_t image = images.begin; image < images.end; ++image) {
        planes(step.pixels.data() + image * image_size, buffers().output + image * image_size);
      }
    });
  }
  void backward(const Step&) override {}

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  void take_numbers(const Step& step) const {
    if constexpr (type_of_values<T> == ValueType::bf16) {
      const auto size = static_cast<std::int64_t>(step.numbers.size());
      on_shares(threads_, size, 64, [&](const Range& range) {
        convert(step.numbers.data() + range.begin, range.size(), buffers().output + range.begin);
      });
    }
  }

  void planes(const std::uint8_t* pixels, T* out) const {
    const std::int64_t channels = output().extent.channels, plane = output().pixels();
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const PixelScale& own = scale_of(scales_, channel);
      scale_channel(pixels + channel, channels, plane, own.scale, own.mean, out + channel * plane);
    }
  }

  PixelScales scales_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_input_layer(const LayerSite& site) {
  return make_typed<InputLayer>(site);
}

}  // namespace feedrate::trainer::cpu
