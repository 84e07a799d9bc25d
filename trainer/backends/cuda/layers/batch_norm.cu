// Batch normalisation: sums over each channel, by blocks over bands of rows, then every value is
// brought there by itself. Forward does the relu that follows in place.

#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

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

// The running statistics follow with the update: only then is it known whether the step's loss is
// finite, of every rank.
struct Statistics {
  Channel c;
  Kept kept;
  DeviceParameter running_mean;
  DeviceParameter running_variance;
  __device__ void operator()(std::int64_t k, const ColumnSums<double>& sums) const {
    const double mean = sums.first / c.values();
    const double difference = sums.second / c.values() - mean * mean;
    const double variance = difference < 0 ? 0 : difference;
    kept.mean[k] = static_cast<float>(mean);
    kept.inverse[k] = static_cast<float>(1 / sqrt(variance + c.epsilon));
    take_over(running_mean, k, mean);
    take_over(running_variance, k, unbiased_variance(variance, c.values()));
  }

 private:
  __device__ void take_over(const DeviceParameter& running, std::int64_t k, double found) const {
    running.next[k] = static_cast<float>(
        running_statistic(static_cast<double>(running.value[k]), found, c.momentum));
  }
};

struct Gradients {
  Channel c;
  Kept kept;
  float* weight_gradient;
  float* bias_gradient;
  __device__ void operator()(std::int64_t k, const ColumnSums<double>& sums) const {
    const double inverse = kept.inverse[k];
    weight_gradient[k] = static_cast<float>(sums.second * inverse);
    bias_gradient[k] = static_cast<float>(sums.first);
    kept.mean_gradient[k] = static_cast<float>(sums.first / c.values());
    kept.slope[k] = static_cast<float>(sums.second / c.values() * inverse * inverse);
  }
};

__global__ void running_kernel(Channel c, Kept kept, const float* running_mean,
                               const float* running_variance) {
  for (std::int64_t k = threadIdx.x; k < c.channels; k += blockDim.x) {
    kept.mean[k] = running_mean[k];
    kept.inverse[k] =
        static_cast<float>(1 / sqrt(static_cast<double>(running_variance[k]) + c.epsilon));
  }
}

// Of one channel, what every value of it needs.
struct ChannelForward {
  float mean, scale, shift;
  bool then_relu;
  __device__ float operator()(float x) const {
    const float value = batch_normalised(x, mean, scale, shift);
    return then_relu ? relu(value) : value;
  }
};
struct ChannelBackward {
  float mean, scale, mean_gradient, slope;
  __device__ float operator()(float dy, float x) const {
    return batch_norm_gradient(dy, x, mean, scale, mean_gradient, slope);
  }
};
struct Weights {
  Kept kept;
  const float* weight;
  const float* bias;
  bool then_relu;
  __device__ ChannelForward forward(std::int64_t k) const {
    return {kept.mean[k], weight[k] * kept.inverse[k], bias[k], then_relu};
  }
  __device__ ChannelBackward backward(std::int64_t k) const {
    return {kept.mean[k], weight[k] * kept.inverse[k], kept.mean_gradient[k], kept.slope[k]};
  }
};

// `lanes` channels a thread.
template <class T, unsigned lanes>
struct BandMoments {
  const T* x;
  __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>>* sums) const {
    const auto values = load<T, lanes>(x + i);
    for (unsigned k = 0; k < lanes; ++k) {
      const SumOf<T> value = values.values[k];
      sums[k].first += value;
      sums[k].second += value * value;
    }
  }
};

template <class T, unsigned lanes>
struct BandProducts {
  const T* dy;
  const T* x;
  const float* mean;
  __device__ void operator()(std::int64_t column, std::int64_t i,
                             ColumnSums<SumOf<T>>* sums) const {
    const auto gradients = load<T, lanes>(dy + i), values = load<T, lanes>(x + i);
    for (unsigned k = 0; k < lanes; ++k) {
      const SumOf<T> gradient = gradients.values[k];
      sums[k].first += gradient;
      sums[k].second += gradient * (values.values[k] - mean[column + k]);
    }
  }
};

template <class T, unsigned lanes>
struct ForwardColumns {
  std::int64_t rows;  // of images that are there
  Weights weights;
  const T* x;
  T* y;
  struct Column {
    ForwardColumns body;
    ChannelForward channels[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto values = load<T, lanes>(body.x + i);
      for (unsigned k = 0; k < lanes; ++k) {
        values.values[k] = row < body.rows ? channels[k](values.values[k]) : 0.0F;
      }
      store(body.y + i, values);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned k = 0; k < lanes; ++k) column.channels[k] = weights.forward(c + k);
    return column;
  }
};

template <class T, unsigned lanes>
struct BackwardColumns {
  std::int64_t rows;
  Weights weights;
  const T* dy;
  const T* x;
  T* dx;
  struct Column {
    BackwardColumns body;
    ChannelBackward channels[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto gradients = load<T, lanes>(body.dy + i);
      const auto values = load<T, lanes>(body.x + i);
      for (unsigned k = 0; k < lanes; ++k) {
        gradients.values[k] =
            row < body.rows ? channels[k](gradients.values[k], values.values[k]) : 0.0F;
      }
      store(body.dx + i, gradients);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned k = 0; k < lanes; ++k) column.channels[k] = weights.backward(c + k);
    return column;
  }
};

template <class T>
class BatchNormOp final : public CudaOpOf<T> {
 public:
  explicit BatchNormOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        in_(site.in),
        epsilon_(site.node.attributes.number("epsilon")),
        momentum_(site.node.attributes.number("momentum")),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.at(1)),
        running_mean_(site.parameters.at(2)),
        running_variance_(site.parameters.at(3)),
        relu_follows_(site.relu_follows) {}

  bool does_relu() const override { return relu_follows_; }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(4 * in_.channels) * sizeof(float);
  }

  std::size_t workspace_bytes() const override {
    return column_workspace<T>(context_, all_rows(), in_.channels);
  }

 protected:
  void run(const PlaceOf<T>& place, const Step& step) override {
    if (step.training) {
      find_statistics(place, step);
    } else {
      launch(context_, "batch_norm running statistics", running_kernel, 1, block_threads,
             channel(step), kept(place), running_mean_.value, running_variance_.value);
    }
    with_lanes<T>(in_.channels, [&](auto lanes) {
      each_of_columns<lanes>(
          context_, "batch_norm forward", all_rows(), in_.channels,
          ForwardColumns<T, lanes>{rows(step), weights(place, step), place.x, place.y});
    });
  }
  void run_back(const PlaceOf<T>& place, const Step& step) override {
    find_gradients(place, step);
    if (place.dx == nullptr) return;
    with_lanes<T>(in_.channels, [&](auto lanes) {
      each_of_columns<lanes>(
          context_, "batch_norm backward", all_rows(), in_.channels,
          BackwardColumns<T, lanes>{rows(step), weights(place, step), place.dy, place.x, place.dx});
    });
  }

 private:
  Channel channel(const Step& step) const {
    return {step.count, in_.channels, in_.height * in_.width, epsilon_, momentum_};
  }
  std::int64_t all_rows() const { return batch_ * in_.height * in_.width; }
  std::int64_t rows(const Step& step) const { return step.count * in_.height * in_.width; }
  Weights weights(const PlaceOf<T>& place, const Step& step) const {
    return {kept(place), weight_.value, bias_.value, relu_follows_ && !step.apart};
  }

  void find_statistics(const PlaceOf<T>& place, const Step& step) const {
    const Statistics finish{channel(step), kept(place), running_mean_, running_variance_};
    with_lanes<T>(in_.channels, [&](auto lanes) {
      sum_columns<T, lanes>(context_, "batch_norm statistics", rows(step), in_.channels,
                            BandMoments<T, lanes>{place.x}, finish, place.workspace);
    });
  }
  void find_gradients(const PlaceOf<T>& place, const Step& step) const {
    const Gradients finish{channel(step), kept(place), weight_.gradient, bias_.gradient};
    with_lanes<T>(in_.channels, [&](auto lanes) {
      sum_columns<T, lanes>(context_, "batch_norm gradients", rows(step), in_.channels,
                            BandProducts<T, lanes>{place.dy, place.x, kept(place).mean}, finish,
                            place.workspace);
    });
  }
  Kept kept(const PlaceOf<T>& place) const {
    auto* start = reinterpret_cast<float*>(place.saved);
    const auto part = [&](std::int64_t number) { return start + number * in_.channels; };
    return {part(0), part(1), part(2), part(3)};
  }

  const Context& context_;
  std::int64_t batch_;
  Extent in_;
  double epsilon_;
  double momentum_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  DeviceParameter running_mean_;
  DeviceParameter running_variance_;
  bool relu_follows_;
};

}  // namespace

std::unique_ptr<CudaOp> batch_norm_cuda(const OpSite& site) {
  return make_typed<BatchNormOp>(site);
}

}  // namespace feedrate::trainer::cuda
