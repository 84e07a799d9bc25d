// u8 HWC pixels → values. The channels that pad a pixel are 0.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/pixels.h"

namespace feedrate::trainer::cuda {
using namespace loader;

namespace {

template <class T>
struct Scale {
  const std::uint8_t* pixels;
  T* out;
  ImageLayout stored;
  std::uint32_t channels;
  PixelScale scales[own_scales];
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = stored.channel(e), pixel = stored.pixel(e);
    float value = 0;
    if (channel < channels) {
      const PixelScale own = scales[channel < own_scales ? channel : 0];
      const std::int64_t start = image * channels * stored.plane;
      value = scaled_pixel(pixels[start + pixel * channels + channel], own.scale, own.mean);
    }
    out[image * stored.elements() + e] = static_cast<T>(value);
  }
};

template <class T>
class InputLayer final : public LayerOf<T> {
 public:
  explicit InputLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        channels_(static_cast<std::uint32_t>(site.node().extent.channels)),
        stored_{static_cast<std::uint32_t>(site.stored.channels),
                image_layout(site.node().extent).plane},
        scales_(pixel_scales(site.node().attributes)) {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    each_of_images(context_, "input", batch_, stored_.elements(),
                   Scale<T>{step.pixels,
                            buffers.output,
                            stored_,
                            channels_,
                            {scales_[0], scales_[1], scales_[2], scales_[3]}});
  }
  void run_backward(const BuffersOf<T>&, const Step&) override {}  // pixels have no gradient

 private:
  const Context& context_;
  std::int64_t batch_;
  std::uint32_t channels_;
  ImageLayout stored_;
  PixelScales scales_;
};

}  // namespace

std::unique_ptr<Layer> make_input_layer(const LayerSite& site) {
  return make_typed<InputLayer>(site);
}

}  // namespace feedrate::trainer::cuda
