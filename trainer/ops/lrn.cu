// Local response normalisation: forward keeps the sums s, backward gathers over the window.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::cuda {
namespace {

struct Terms {
  std::int32_t channels;
  std::int32_t plane;
  std::int32_t half;
  float share;   // alpha / size
  float factor;  // 2 · alpha · beta / size
  float k;
  float beta;

  // Σ term(offset) over the window of channels around element e.
  template <class Term>
  __device__ float window_sum(std::uint32_t e, Term term) const {
    const auto p = static_cast<std::uint32_t>(plane);
    const auto channel = static_cast<std::int32_t>(e / p);
    const std::int32_t first = channel < half ? 0 : channel - half;
    const std::int32_t last = channel + half < channels ? channel + half : channels - 1;
    float sum = 0;
    for (std::int32_t c = first; c <= last; ++c) {
      sum += term(static_cast<std::uint32_t>(c) * p + e % p);
    }
    return sum;
  }
  __device__ std::int64_t start(std::int64_t image) const {
    return image * channels * std::int64_t{plane};
  }
};

struct Forward {
  Terms t;
  const float* x;
  float* y;
  float* scales;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = t.start(image);
    const float* values = x + start;
    const float squares =
        t.window_sum(e, [values](std::uint32_t i) { return values[i] * values[i]; });
    const float scale = lrn_scale(squares, t.share, t.k);
    scales[start + e] = scale;
    y[start + e] = values[e] * powf(scale, -t.beta);
  }
};

struct Backward {
  Terms t;
  const float* x;
  const float* dy;
  const float* scales;
  float* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = t.start(image);
    const float* values = x + start;
    const float* gradients = dy + start;
    const float* scale = scales + start;
    const float beta = t.beta;
    const float sum = t.window_sum(e, [=](std::uint32_t i) {
      return lrn_term(gradients[i], values[i], powf(scale[i], -beta), scale[i]);
    });
    dx[start + e] = lrn_gradient(gradients[e], values[e], powf(scale[e], -beta), sum, t.factor);
  }
};

class LrnOp final : public CudaOp {
 public:
  explicit LrnOp(const OpSite& site)
      : context_(site.context), batch_(site.batch), elements_(site.in.elements()) {
    const Attributes& attributes = site.node.attributes;
    const double size = attributes.number("size"), alpha = attributes.number("alpha");
    const double beta = attributes.number("beta");
    terms_ = {.channels = dimension(site.in.channels),
              .plane = dimension(site.in.height * site.in.width),
              .half = dimension(attributes.integer("size")) / 2,
              .share = static_cast<float>(alpha / size),
              .factor = static_cast<float>(2 * alpha * beta / size),
              .k = static_cast<float>(attributes.number("k")),
              .beta = static_cast<float>(beta)};
  }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * elements_) * sizeof(float);
  }
  void forward(const Place& place, const Step&) override {
    each_of_images(context_, "lrn forward", batch_, elements_,
                   Forward{terms_, place.x, place.y, reinterpret_cast<float*>(place.saved)});
  }
  void backward(const Place& place, const Step&) override {
    if (place.dx == nullptr) return;
    each_of_images(
        context_, "lrn backward", batch_, elements_,
        Backward{terms_, place.x, place.dy, reinterpret_cast<const float*>(place.saved), place.dx});
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  std::int64_t elements_;
  Terms terms_{};
};

}  // namespace

std::unique_ptr<CudaOp> lrn_cuda(const OpSite& site) { return std::make_unique<LrnOp>(site); }

}  // namespace feedrate::cuda
