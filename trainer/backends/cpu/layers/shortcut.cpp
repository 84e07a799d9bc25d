#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {
namespace {

// The output has blocks of the input's width, so a channel keeps its block and lane.
template <class T>
class ShortcutLayer final : public LayerOf<T> {
 public:
  explicit ShortcutLayer(const LayerSite& site)
      : LayerOf<T>(site, {site.node().extent, site.input.block}),
        input_(site.input),
        stride_(site.node().attributes.integer("stride")),
        batch_(site.batch),
        threads_(site.threads) {}

  void forward(const Step&) override {
    each_image([this](std::int64_t image) {
      const T* in = buffers().input + image * input_.elements();
      T* out = buffers().output + image * output().elements();
      std::fill_n(out, output().elements(), T(0.0F));
      each_run([=](std::int64_t from, std::int64_t to, std::int64_t lanes) {
        std::copy_n(in + from, lanes, out + to);
      });
    });
  }

  void backward(const Step&) override {
    each_image([this](std::int64_t image) {
      const T* gradient = buffers().output_gradient + image * output().elements();
      T* to = buffers().input_gradient + image * input_.elements();
      std::fill_n(to, input_.elements(), T(0.0F));
      each_run([=](std::int64_t input, std::int64_t out, std::int64_t lanes) {
        std::copy_n(gradient + out, lanes, to + input);
      });
    });
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  template <class Body>
  void each_image(const Body& body) const {
    on_shares(threads_, batch_, 1, [&](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) body(image);
    });
  }

  // Calls visit(offset in the input, offset in the output, number of channels) for each run of
  // channels, without padding channels.
  template <class Visit>
  void each_run(const Visit& visit) const {
    const Extent& out = output().extent;
    for (std::int64_t first = 0; first < input_.extent.channels; first += input_.block) {
      const std::int64_t lanes = std::min(input_.block, input_.extent.channels - first);
      for (std::int64_t y = 0; y < out.height; ++y) {
        for (std::int64_t x = 0; x < out.width; ++x) {
          visit(input_.offset(first, (y * input_.extent.width + x) * stride_),
                output().offset(first, y * out.width + x), lanes);
        }
      }
    }
  }

  Layout input_;
  std::int64_t stride_, batch_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_shortcut_layer(const LayerSite& site) {
  return make_typed<ShortcutLayer>(site);
}

}  // namespace feedrate::trainer::cpu
