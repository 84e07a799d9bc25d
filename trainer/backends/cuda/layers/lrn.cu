// Local response normalisation. Forward saves s = k + alpha / size · Σ x²; backward gathers over
// the window.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

struct Terms {
  ImageLayout layout;
  std::int32_t half;
  float share;   // alpha / size
  float factor;  // 2 · alpha · beta / size
  float k;
  float beta;

  // Σ term(offset) over the window of channels around element e.
  template <class Term>
  __device__ float window_sum(std::uint32_t e, Term term) const {
    const auto channel = static_cast<std::int32_t>(layout.channel(e));
    const auto channels = static_cast<std::int32_t>(layout.channels);
    const std::int32_t first = channel < half ? 0 : channel - half;
    const std::int32_t last = channel + half < channels ? channel + half : channels - 1;
    const std::uint32_t pixel = layout.pixel(e);
    float sum = 0;
    for (std::int32_t c = first; c <= last; ++c) {
      sum += term(layout.offset(static_cast<std::uint32_t>(c), pixel));
    }
    return sum;
  }
};

template <class T>
struct LrnForward {
  Terms t;
  const T* input;
  T* output;
  float* scales;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * t.layout.elements();
    const T* values = input + start;
    const float squares = t.window_sum(e, [values](std::uint32_t i) {
      const auto value = static_cast<float>(values[i]);
      return value * value;
    });
    const float scale = lrn_scale(squares, t.share, t.k);
    scales[start + e] = scale;
    output[start + e] = static_cast<T>(static_cast<float>(values[e]) * powf(scale, -t.beta));
  }
};

template <class T>
struct LrnBackward {
  Terms t;
  const T* input;
  const T* output_gradient;
  const float* scales;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * t.layout.elements();
    const T* values = input + start;
    const T* gradients = output_gradient + start;
    const float* scale = scales + start;
    const float beta = t.beta;
    const float sum = t.window_sum(e, [=](std::uint32_t i) {
      return lrn_term(static_cast<float>(gradients[i]), static_cast<float>(values[i]),
                      powf(scale[i], -beta), scale[i]);
    });
    input_gradient[start + e] =
        static_cast<T>(lrn_gradient(static_cast<float>(gradients[e]), static_cast<float>(values[e]),
                                    powf(scale[e], -beta), sum, t.factor));
  }
};

template <class T>
class LrnLayer final : public LayerOf<T> {
 public:
  explicit LrnLayer(const LayerSite& site)
      : context_(site.context), batch_(site.batch), elements_(site.input.elements()) {
    const Attributes& attributes = site.node().attributes;
    const double size = attributes.number("size"), alpha = attributes.number("alpha");
    const double beta = attributes.number("beta");
    terms_ = {.layout = image_layout(site.input),
              .half = dimension(attributes.integer("size")) / 2,
              .share = static_cast<float>(alpha / size),
              .factor = static_cast<float>(2 * alpha * beta / size),
              .k = static_cast<float>(attributes.number("k")),
              .beta = static_cast<float>(beta)};
  }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * elements_) * sizeof(float);
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    each_of_images(
        context_, "lrn forward", batch_, elements_,
        LrnForward<T>{terms_, buffers.input, buffers.output, reinterpret_cast<float*>(buffers.saved)});
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    each_of_images(
        context_, "lrn backward", batch_, elements_,
        LrnBackward<T>{terms_, buffers.input, buffers.output_gradient,
                    reinterpret_cast<const float*>(buffers.saved), buffers.input_gradient});
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  std::int64_t elements_;
  Terms terms_{};
};

}  // namespace

std::unique_ptr<Layer> make_lrn_layer(const LayerSite& site) { return make_typed<LrnLayer>(site); }

}  // namespace feedrate::trainer::cuda
