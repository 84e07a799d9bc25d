// Batch normalisation: one block sums a channel, then every value is brought there by itself.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::cuda {
namespace {

constexpr unsigned sum_threads = 512;

struct Sums {
  double first, second;
  __device__ Sums& operator+=(const Sums& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

// What forward keeps for backward, and each hands on to its second kernel; by channel.
struct Kept {
  float* mean;
  float* inverse;  // 1 / deviation
  float* mean_gradient;
  float* slope;
};

struct Channel {
  std::int64_t images;  // that are there
  std::int64_t channels;
  std::int64_t plane;
  double epsilon;
  double momentum;
  __device__ double values() const {
    return static_cast<double>(images) * static_cast<double>(plane);
  }
};

// Over the block's channel, `term(offset)` for every value; thread 0 gets it.
template <class Term>
__device__ Sums channel_sum(const Channel& c, Term term) {
  Sums sums{0, 0};
  for (std::int64_t image = threadIdx.x / warp_threads; image < c.images;
       image += sum_threads / warp_threads) {
    const std::int64_t start = (image * c.channels + blockIdx.x) * c.plane;
    for (std::int64_t p = threadIdx.x % warp_threads; p < c.plane; p += warp_threads) {
      sums += term(start + p);
    }
  }
  return block_sum<sum_threads>(sums);
}

struct Moments {
  const float* x;
  __device__ Sums operator()(std::int64_t i) const {
    const double value = x[i];
    return {value, value * value};
  }
};

struct Products {
  const float* dy;
  const float* x;
  float mean;
  __device__ Sums operator()(std::int64_t i) const {
    const double gradient = dy[i];
    return {gradient, gradient * static_cast<double>(x[i] - mean)};
  }
};

__global__ void statistics_kernel(Channel c, const float* x, Kept kept, float* running_mean,
                                  float* running_variance) {
  const Sums sums = channel_sum(c, Moments{x});
  if (threadIdx.x != 0) return;
  const unsigned k = blockIdx.x;
  const double mean = sums.first / c.values();
  const double difference = sums.second / c.values() - mean * mean;
  const double variance = difference < 0 ? 0 : difference;
  kept.mean[k] = static_cast<float>(mean);
  kept.inverse[k] = static_cast<float>(1 / sqrt(variance + c.epsilon));
  running_mean[k] =
      static_cast<float>(running_statistic(static_cast<double>(running_mean[k]), mean, c.momentum));
  running_variance[k] =
      static_cast<float>(running_statistic(static_cast<double>(running_variance[k]),
                                           unbiased_variance(variance, c.values()), c.momentum));
}

__global__ void running_kernel(Channel c, Kept kept, const float* running_mean,
                               const float* running_variance) {
  for (std::int64_t k = threadIdx.x; k < c.channels; k += blockDim.x) {
    kept.mean[k] = running_mean[k];
    kept.inverse[k] =
        static_cast<float>(1 / sqrt(static_cast<double>(running_variance[k]) + c.epsilon));
  }
}

__global__ void gradients_kernel(Channel c, const float* dy, const float* x, Kept kept,
                                 float* weight_gradient, float* bias_gradient) {
  const unsigned k = blockIdx.x;
  const Sums sums = channel_sum(c, Products{dy, x, kept.mean[k]});
  if (threadIdx.x != 0) return;
  const double inverse = kept.inverse[k];
  weight_gradient[k] = static_cast<float>(sums.second * inverse);
  bias_gradient[k] = static_cast<float>(sums.first);
  kept.mean_gradient[k] = static_cast<float>(sums.first / c.values());
  kept.slope[k] = static_cast<float>(sums.second / c.values() * inverse * inverse);
}

struct Forward {
  Channel c;
  Kept kept;
  const float* weight;
  const float* bias;
  const float* x;
  float* y;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t i = image * c.channels * c.plane + e;
    const std::uint32_t k = e / static_cast<std::uint32_t>(c.plane);
    y[i] = image < c.images
               ? batch_normalised(x[i], kept.mean[k], weight[k] * kept.inverse[k], bias[k])
               : 0.0F;
  }
};

struct Backward {
  Channel c;
  Kept kept;
  const float* weight;
  const float* dy;
  const float* x;
  float* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t i = image * c.channels * c.plane + e;
    const std::uint32_t k = e / static_cast<std::uint32_t>(c.plane);
    dx[i] = image < c.images
                ? batch_norm_gradient(dy[i], x[i], kept.mean[k], weight[k] * kept.inverse[k],
                                      kept.mean_gradient[k], kept.slope[k])
                : 0.0F;
  }
};

class BatchNormOp final : public CudaOp {
 public:
  explicit BatchNormOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        in_(site.in),
        epsilon_(site.node.attributes.number("epsilon")),
        momentum_(site.node.attributes.number("momentum")),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.at(1)),
        running_mean_(site.parameters.at(2).value),
        running_variance_(site.parameters.at(3).value) {}

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(4 * in_.channels) * sizeof(float);
  }

  void forward(const Place& place, const Step& step) override {
    if (step.training) {
      launch(context_, "batch_norm statistics", statistics_kernel, blocks(), sum_threads,
             channel(step), place.x, kept(place), running_mean_, running_variance_);
    } else {
      launch(context_, "batch_norm running statistics", running_kernel, 1, block_threads,
             channel(step), kept(place), running_mean_, running_variance_);
    }
    each_of_images(
        context_, "batch_norm forward", batch_, in_.elements(),
        Forward{channel(step), kept(place), weight_.value, bias_.value, place.x, place.y});
  }
  void backward(const Place& place, const Step& step) override {
    launch(context_, "batch_norm gradients", gradients_kernel, blocks(), sum_threads, channel(step),
           place.dy, place.x, kept(place), weight_.gradient, bias_.gradient);
    if (place.dx == nullptr) return;
    each_of_images(
        context_, "batch_norm backward", batch_, in_.elements(),
        Backward{channel(step), kept(place), weight_.value, place.dy, place.x, place.dx});
  }

 private:
  unsigned blocks() const { return static_cast<unsigned>(in_.channels); }
  Channel channel(const Step& step) const {
    return {step.count, in_.channels, in_.height * in_.width, epsilon_, momentum_};
  }
  Kept kept(const Place& place) const {
    auto* start = reinterpret_cast<float*>(place.saved);
    return {start, start + in_.channels, start + 2 * in_.channels, start + 3 * in_.channels};
  }

  const Context& context_;
  std::int64_t batch_;
  Extent in_;
  double epsilon_;
  double momentum_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  float* running_mean_;
  float* running_variance_;
};

}  // namespace

std::unique_ptr<CudaOp> batch_norm_cuda(const OpSite& site) {
  return std::make_unique<BatchNormOp>(site);
}

}  // namespace feedrate::cuda
