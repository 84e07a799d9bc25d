// Dropout. Backward draws the same mask again, so nothing is saved.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

// The mask of the step that runs, whose number lies on the device.
struct DrawnMask {
  const UpdateSettings* settings;
  std::uint64_t seed;
  std::uint64_t node;
  float share;
  DropoutMask mask{0, 0, 0, 0};
  __device__ void prepare() { mask = DropoutMask(seed, settings->step, node, share); }
};

struct Drop : DrawnMask {
  __device__ float operator()(std::int64_t i, float value) const {
    return value * mask.factor(static_cast<std::uint64_t>(i));
  }
};

// The same for interleaved values: the mask counts them in canonical order.
template <class T>
struct DropInterleaved : DrawnMask {
  ImageLayout layout;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * layout.elements();
    const std::int64_t counted =
        start + std::int64_t{layout.channel(e)} * layout.plane + layout.pixel(e);
    out[start + e] = static_cast<T>(static_cast<float>(in[start + e]) *
                                    this->mask.factor(static_cast<std::uint64_t>(counted)));
  }
};

template <class T>
class DropoutLayer final : public LayerOf<T> {
 public:
  explicit DropoutLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        layout_(image_layout(site.input)),
        seed_(site.seed),
        node_(site.number),
        share_(static_cast<float>(site.node().attributes.number("share"))) {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    if (step.training) {
      drop("dropout forward", step, buffers.input, buffers.output);
    } else if (buffers.output != buffers.input) {
      copy_values(context_, count(), buffers.input, buffers.output);
    }
  }
  void run_backward(const BuffersOf<T>& buffers, const Step& step) override {
    if (buffers.input_gradient != nullptr) {
      drop("dropout backward", step, buffers.output_gradient, buffers.input_gradient);
    }
  }

 private:
  std::int64_t count() const { return batch_ * layout_.elements(); }
  void drop(const char* name, const Step& step, const T* in, T* out) const {
    const DrawnMask mask{step.settings, seed_, node_, share_};
    if (layout_.plane == 1) {
      map(context_, name, count(), out, Drop{mask}, in);
    } else {
      each_of_images(context_, name, batch_, layout_.elements(),
                     DropInterleaved<T>{mask, layout_, in, out});
    }
  }

  const Context& context_;
  std::int64_t batch_;
  ImageLayout layout_;
  std::uint64_t seed_;
  std::uint64_t node_;
  float share_;
};

}  // namespace

std::unique_ptr<Layer> make_dropout_layer(const LayerSite& site) {
  return make_typed<DropoutLayer>(site);
}

}  // namespace feedrate::trainer::cuda
