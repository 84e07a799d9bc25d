// u8 HWC pixels → values, as stored_input() says that they lie in memory.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/pixels.h"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cuda {
using namespace loader;

namespace {

/// Where the values of a stored pixel come from (stored_input()).
struct PixelBlocks {
  ImageLayout stored;
  std::int32_t stored_width;
  std::int32_t block, pad;
  std::int32_t height, width, channels;  // of the image
};

/// A thread writes `lanes` stored channels of a pixel.
template <class T, unsigned lanes>
struct Scale {
  const std::uint8_t* pixels;
  T* out;
  PixelBlocks of;
  PixelScale scales[own_scales];
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const PoolSpot corner = pool_spot(of.stored.pixel(e), of.stored_width);
    const auto first = static_cast<std::int32_t>(of.stored.channel(e));
    const std::int32_t squares = first / of.channels;
    std::int32_t channel = first % of.channels, y = squares / of.block, x = squares % of.block;
    const std::uint8_t* from = pixels + image * of.height * of.width * of.channels;
    std::uint8_t found[lanes];
    bool inside[lanes];
    std::int32_t channels[lanes];
    for (std::uint32_t k = 0; k < lanes; ++k) {
      const std::int32_t row = corner.row * of.block - of.pad + y;
      const std::int32_t column = corner.column * of.block - of.pad + x;
      inside[k] = y < of.block && row >= 0 && row < of.height && column >= 0 && column < of.width;
      channels[k] = channel;
      found[k] = inside[k] ? from[(row * of.width + column) * of.channels + channel] : 0;
      if (++channel < of.channels) continue;
      channel = 0;
      if (++x < of.block) continue;
      x = 0;
      ++y;
    }
    Lanes<T, lanes> values;
    for (std::uint32_t k = 0; k < lanes; ++k) {
      const auto channel_of = static_cast<std::uint32_t>(channels[k]);
      const PixelScale own = scales[channel_of < own_scales ? channel_of : 0];
      const float value = scaled_pixel(found[k], own.scale, own.mean);
      values.values[k] = inside[k] ? value : 0.0F;
    }
    store(out + image * of.stored.elements() + e, values);
  }
};

template <class T>
class InputLayer final : public LayerOf<T> {
 public:
  explicit InputLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        blocks_{.stored = image_layout(site.stored.extent),
                .stored_width = dimension(site.stored.extent.width),
                .block = dimension(site.stored.block),
                .pad = static_cast<std::int32_t>(site.stored.pad),
                .height = dimension(site.node().extent.height),
                .width = dimension(site.node().extent.width),
                .channels = dimension(site.node().extent.channels)},
        scales_(pixel_scales(site.node().attributes)) {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    with_lanes<T>(blocks_.stored.channels, [&](auto lanes) {
      each_of_images(context_, "input", batch_, blocks_.stored.elements(),
                     Scale<T, lanes>{step.pixels,
                                     buffers.output,
                                     blocks_,
                                     {scales_[0], scales_[1], scales_[2], scales_[3]}},
                     lanes);
    });
  }
  void run_backward(const BuffersOf<T>&, const Step&) override {}  // pixels have no gradient

 private:
  const Context& context_;
  std::int64_t batch_;
  PixelBlocks blocks_;
  PixelScales scales_;
};

}  // namespace

std::unique_ptr<Layer> make_input_layer(const LayerSite& site) {
  return make_typed<InputLayer>(site);
}

}  // namespace feedrate::trainer::cuda
