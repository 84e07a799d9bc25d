// u8 HWC pixels → values. The channels that pad a pixel are 0.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/pixels.h"

namespace feedrate::trainer::cuda {
using namespace loader;

namespace {

/// A thread writes a whole pixel of `lanes` stored channels, or one value.
template <class T, unsigned lanes>
struct Scale {
  const std::uint8_t* pixels;
  T* out;
  ImageLayout stored;
  std::uint32_t channels;
  PixelScale scales[own_scales];
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t first = lanes == 1 ? stored.channel(e) : 0;
    const std::int64_t pixel = image * stored.plane + stored.pixel(e);
    const std::uint8_t* from = pixels + pixel * channels + first;
    std::uint8_t found[lanes];
    for (std::uint32_t k = 0; k < lanes; ++k) found[k] = first + k < channels ? from[k] : 0;
    Lanes<T, lanes> values;
    for (std::uint32_t k = 0; k < lanes; ++k) {
      const PixelScale own = scales[first + k < own_scales ? first + k : 0];
      const float value = scaled_pixel(found[k], own.scale, own.mean);
      values.values[k] = first + k < channels ? value : 0.0F;
    }
    store(out + image * stored.elements() + e, values);
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
    if (stored_.channels == full_lanes<T>) {
      forward<full_lanes<T>>(buffers, step);
    } else {
      forward<1>(buffers, step);
    }
  }
  void run_backward(const BuffersOf<T>&, const Step&) override {}  // pixels have no gradient

 private:
  template <unsigned lanes>
  void forward(const BuffersOf<T>& buffers, const Step& step) const {
    each_of_images(context_, "input", batch_, stored_.elements(),
                   Scale<T, lanes>{step.pixels,
                                   buffers.output,
                                   stored_,
                                   channels_,
                                   {scales_[0], scales_[1], scales_[2], scales_[3]}},
                   lanes);
  }

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
