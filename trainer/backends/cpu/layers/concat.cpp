#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/relayout.h"

namespace feedrate::trainer::cpu {
namespace {

// The inputs' layout if all inputs consist of whole blocks of one width: then each image of each
// input is one copy. Otherwise channels last.
Layout joined(const LayerSite& site) {
  const std::int64_t block = site.input.block;
  const bool whole = std::all_of(site.inputs.begin(), site.inputs.end(), [block](const Layout& in) {
    return in.block == block && in.extent.channels % block == 0;
  });
  return whole ? Layout{site.node().extent, block} : Layout::channels_last(site.node().extent);
}

template <class T>
class ConcatLayer final : public LayerOf<T> {
 public:
  explicit ConcatLayer(const LayerSite& site)
      : LayerOf<T>(site, joined(site)),
        inputs_(site.inputs),
        batch_(site.batch),
        threads_(site.threads) {}

  void forward(const Step&) override {
    each([this](std::int64_t image, std::size_t k, std::int64_t first) {
      const Layout& in = inputs_[k];
      copy_channels<T>(in.extent.channels, {buffers().inputs[k] + image * in.elements(), in, 0},
                       {buffers().output + image * output().elements(), output(), first});
    });
  }

  void backward(const Step&) override {
    each([this](std::int64_t image, std::size_t k, std::int64_t first) {
      if (buffers().input_gradients[k] == nullptr) return;
      const Layout& in = inputs_[k];
      T* to = buffers().input_gradients[k] + image * in.elements();
      if (in.elements() != in.extent.elements()) std::fill_n(to, in.elements(), T(0.0F));
      copy_channels<T>(in.extent.channels,
                       {buffers().output_gradient + image * output().elements(), output(), first},
                       {to, in, 0});
    });
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  // Calls body(image, input, the input's first channel in the output).
  template <class Body>
  void each(const Body& body) const {
    on_shares(threads_, batch_, 1, [&](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        std::int64_t first = 0;
        for (std::size_t k = 0; k < inputs_.size(); ++k) {
          body(image, k, first);
          first += inputs_[k].extent.channels;
        }
      }
    });
  }

  std::vector<Layout> inputs_;
  std::int64_t batch_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_concat_layer(const LayerSite& site) {
  return make_typed<ConcatLayer>(site);
}

}  // namespace feedrate::trainer::cpu
