// The shortcut of a residual block: every stride-th pixel, then channels of zeros.

#include <numeric>

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {
namespace {

struct ShortcutSides {
  ImageLayout in;
  ImageLayout out;
  std::uint32_t width;
  std::uint32_t out_width;
  std::uint32_t stride;
};

template <class T, unsigned lanes>
struct ShortcutForward {
  ShortcutSides s;
  const T* input;
  T* output;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = s.out.channel(e), pixel = s.out.pixel(e);
    const std::uint32_t row = pixel / s.out_width, column = pixel % s.out_width;
    Lanes<T, lanes> values{};
    if (channel < s.in.channels) {
      const std::uint32_t from = row * s.stride * s.width + column * s.stride;
      values = load<T, lanes>(input + image * s.in.elements() + s.in.offset(channel, from));
    }
    store(output + image * s.out.elements() + e, values);
  }
};

template <class T, unsigned lanes>
struct ShortcutBackward {
  ShortcutSides s;
  const T* output_gradient;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = s.in.channel(e), pixel = s.in.pixel(e);
    const std::uint32_t row = pixel / s.width, column = pixel % s.width;
    Lanes<T, lanes> values{};
    if (row % s.stride == 0 && column % s.stride == 0) {
      const std::uint32_t from = row / s.stride * s.out_width + column / s.stride;
      values =
          load<T, lanes>(output_gradient + image * s.out.elements() + s.out.offset(channel, from));
    }
    store(input_gradient + image * s.in.elements() + e, values);
  }
};

template <class T>
class ShortcutLayer final : public LayerOf<T> {
 public:
  explicit ShortcutLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        sides_{image_layout(site.input), image_layout(site.node().extent),
               static_cast<std::uint32_t>(site.input.width),
               static_cast<std::uint32_t>(site.node().extent.width),
               static_cast<std::uint32_t>(site.node().attributes.integer("stride"))} {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    with_lanes<T>(common_channels(), [&](auto lanes) {
      each_of_images(context_, "shortcut forward", batch_, sides_.out.elements(),
                     ShortcutForward<T, lanes>{sides_, buffers.input, buffers.output}, lanes);
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    with_lanes<T>(common_channels(), [&](auto lanes) {
      each_of_images(
          context_, "shortcut backward", batch_, sides_.in.elements(),
          ShortcutBackward<T, lanes>{sides_, buffers.output_gradient, buffers.input_gradient},
          lanes);
    });
  }

 private:
  std::int64_t common_channels() const { return std::gcd(sides_.in.channels, sides_.out.channels); }

  const Context& context_;
  std::int64_t batch_;
  ShortcutSides sides_;
};

}  // namespace

std::unique_ptr<Layer> make_shortcut_layer(const LayerSite& site) {
  return make_typed<ShortcutLayer>(site);
}

}  // namespace feedrate::trainer::cuda
