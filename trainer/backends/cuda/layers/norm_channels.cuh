#pragma once
// The channels of a batch norm: what forward and backward find for each, and what they do with one
// value. A layer of its own uses it, and the end of a residual block.

#include <cmath>
#include <optional>
#include <span>

#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {

// By channel: what the first kernel of forward or backward passes to the second. Backward also
// reads what forward has found.
struct NormSaved {
  float* mean;
  float* inverse;  // 1 / deviation
  float* mean_gradient;
  float* slope;
};

struct NormValues {
  std::int64_t images;  // those present
  std::int64_t channels;
  std::int64_t plane;
  double epsilon;
  double momentum;
  __device__ double count() const {
    return static_cast<double>(images) * static_cast<double>(plane);
  }
};

// Writes the next values of the running statistics. The update takes them over if the step's loss
// is finite on all ranks.
struct NormStatistics {
  NormValues of;
  NormSaved saved;
  DeviceParameter running_mean;
  DeviceParameter running_variance;
  __device__ void operator()(std::int64_t k, const ColumnSums<double, 2>& sums) const {
    const double mean = sums.values[0] / of.count();
    const double difference = sums.values[1] / of.count() - mean * mean;
    const double variance = difference < 0 ? 0 : difference;
    saved.mean[k] = static_cast<float>(mean);
    saved.inverse[k] = static_cast<float>(1 / sqrt(variance + of.epsilon));
    take_over(running_mean, k, mean);
    take_over(running_variance, k, unbiased_variance(variance, of.count()));
  }

 private:
  __device__ void take_over(const DeviceParameter& running, std::int64_t k, double found) const {
    running.next[k] = static_cast<float>(
        running_statistic(static_cast<double>(running.value[k]), found, of.momentum));
  }
};

struct NormGradients {
  NormValues of;
  NormSaved saved;
  float* weight_gradient;
  float* bias_gradient;
  /// `sum`: of the output gradients; `products`: of gradient × (x − mean).
  __device__ void write(std::int64_t k, double sum, double products) const {
    const double inverse = saved.inverse[k];
    weight_gradient[k] = static_cast<float>(products * inverse);
    bias_gradient[k] = static_cast<float>(sum);
    saved.mean_gradient[k] = static_cast<float>(sum / of.count());
    saved.slope[k] = static_cast<float>(products / of.count() * inverse * inverse);
  }
};

// What every value of one channel needs.
struct ChannelForward {
  float mean, scale, shift;
  __device__ float operator()(float x) const { return batch_normalised(x, mean, scale, shift); }
};
struct ChannelBackward {
  float mean, scale, mean_gradient, slope;
  __device__ float operator()(float gradient, float x) const {
    return batch_norm_gradient(gradient, x, mean, scale, mean_gradient, slope);
  }
};
struct NormChannels {
  NormSaved saved;
  const float* weight;
  const float* bias;
  __device__ ChannelForward forward(std::int64_t k) const {
    return {saved.mean[k], weight[k] * saved.inverse[k], bias[k]};
  }
  __device__ ChannelBackward backward(std::int64_t k) const {
    return {saved.mean[k], weight[k] * saved.inverse[k], saved.mean_gradient[k], saved.slope[k]};
  }
};

/// The parameters of a norm, and its channels in what it has saved.
class Norm {
 public:
  Norm(const Node& node, const Extent& extent, std::span<const DeviceParameter> parameters)
      : extent_(extent),
        epsilon_(node.attributes.number("epsilon")),
        momentum_(node.attributes.number("momentum")),
        weight_(parameters[0]),
        bias_(parameters[1]),
        running_mean_(parameters[2]),
        running_variance_(parameters[3]) {}

  std::size_t saved_bytes() const {
    return static_cast<std::size_t>(4 * extent_.channels) * sizeof(float);
  }
  NormValues values(std::uint32_t images) const {
    return {images, extent_.channels, extent_.height * extent_.width, epsilon_, momentum_};
  }
  NormSaved saved(std::byte* bytes) const {
    auto* start = reinterpret_cast<float*>(bytes);
    const auto part = [&](std::int64_t number) { return start + number * extent_.channels; };
    return {part(0), part(1), part(2), part(3)};
  }
  NormChannels channels(std::byte* bytes) const {
    return {saved(bytes), weight_.value, bias_.value};
  }
  NormStatistics statistics(std::uint32_t images, std::byte* bytes) const {
    return {values(images), saved(bytes), running_mean_, running_variance_};
  }
  NormGradients gradients(std::uint32_t images, std::byte* bytes) const {
    return {values(images), saved(bytes), weight_.gradient, bias_.gradient};
  }
  const float* running_mean() const { return running_mean_.value; }
  const float* running_variance() const { return running_variance_.value; }

 private:
  Extent extent_;
  double epsilon_;
  double momentum_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  DeviceParameter running_mean_;
  DeviceParameter running_variance_;
};

}  // namespace feedrate::trainer::cuda
