// Batch normalisation: sums over each channel, then a kernel over all values. Forward also computes
// a relu that follows in place.

#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

// By channel: what the first kernel of forward or backward passes to the second. Backward also
// reads what forward has found.
struct Saved {
  float* mean;
  float* inverse;  // 1 / deviation
  float* mean_gradient;
  float* slope;
};

struct Channel {
  std::int64_t images;  // those present
  std::int64_t channels;
  std::int64_t plane;
  double epsilon;
  double momentum;
  __device__ double values() const {
    return static_cast<double>(images) * static_cast<double>(plane);
  }
};

// Writes the next values of the running statistics. The update takes them over if the step's loss
// is finite on all ranks.
struct Statistics {
  Channel c;
  Saved saved;
  DeviceParameter running_mean;
  DeviceParameter running_variance;
  __device__ void operator()(std::int64_t k, const ColumnSums<double>& sums) const {
    const double mean = sums.first / c.values();
    const double difference = sums.second / c.values() - mean * mean;
    const double variance = difference < 0 ? 0 : difference;
    saved.mean[k] = static_cast<float>(mean);
    saved.inverse[k] = static_cast<float>(1 / sqrt(variance + c.epsilon));
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
  Saved saved;
  float* weight_gradient;
  float* bias_gradient;
  __device__ void operator()(std::int64_t k, const ColumnSums<double>& sums) const {
    const double inverse = saved.inverse[k];
    weight_gradient[k] = static_cast<float>(sums.second * inverse);
    bias_gradient[k] = static_cast<float>(sums.first);
    saved.mean_gradient[k] = static_cast<float>(sums.first / c.values());
    saved.slope[k] = static_cast<float>(sums.second / c.values() * inverse * inverse);
  }
};

__global__ void running_kernel(Channel c, Saved saved, const float* running_mean,
                               const float* running_variance) {
  for (std::int64_t k = threadIdx.x; k < c.channels; k += blockDim.x) {
    saved.mean[k] = running_mean[k];
    saved.inverse[k] =
        static_cast<float>(1 / sqrt(static_cast<double>(running_variance[k]) + c.epsilon));
  }
}

// What every value of one channel needs.
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
  __device__ float operator()(float gradient, float x) const {
    return batch_norm_gradient(gradient, x, mean, scale, mean_gradient, slope);
  }
};
struct Weights {
  Saved saved;
  const float* weight;
  const float* bias;
  bool then_relu;
  __device__ ChannelForward forward(std::int64_t k) const {
    return {saved.mean[k], weight[k] * saved.inverse[k], bias[k], then_relu};
  }
  __device__ ChannelBackward backward(std::int64_t k) const {
    return {saved.mean[k], weight[k] * saved.inverse[k], saved.mean_gradient[k], saved.slope[k]};
  }
};

// `lanes` channels per thread.
template <class T, unsigned lanes>
struct BandMoments {
  const T* input;
  __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>>* sums) const {
    const auto values = load<T, lanes>(input + i);
    for (unsigned k = 0; k < lanes; ++k) {
      const SumOf<T> value = values.values[k];
      sums[k].first += value;
      sums[k].second += value * value;
    }
  }
};

template <class T, unsigned lanes>
struct BandProducts {
  const T* output_gradient;
  const T* input;
  const float* mean;
  __device__ void operator()(std::int64_t column, std::int64_t i,
                             ColumnSums<SumOf<T>>* sums) const {
    const auto gradients = load<T, lanes>(output_gradient + i), values = load<T, lanes>(input + i);
    for (unsigned k = 0; k < lanes; ++k) {
      const SumOf<T> gradient = gradients.values[k];
      sums[k].first += gradient;
      sums[k].second += gradient * (values.values[k] - mean[column + k]);
    }
  }
};

template <class T, unsigned lanes>
struct ForwardColumns {
  std::int64_t rows;  // of the images present
  Weights weights;
  const T* input;
  T* output;
  struct Column {
    ForwardColumns body;
    ChannelForward channels[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto values = load<T, lanes>(body.input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        values.values[k] = row < body.rows ? channels[k](values.values[k]) : 0.0F;
      }
      store(body.output + i, values);
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
  const T* output_gradient;
  const T* input;
  T* input_gradient;
  struct Column {
    BackwardColumns body;
    ChannelBackward channels[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto gradients = load<T, lanes>(body.output_gradient + i);
      const auto values = load<T, lanes>(body.input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        gradients.values[k] =
            row < body.rows ? channels[k](gradients.values[k], values.values[k]) : 0.0F;
      }
      store(body.input_gradient + i, gradients);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned k = 0; k < lanes; ++k) column.channels[k] = weights.backward(c + k);
    return column;
  }
};

template <class T>
class BatchNormLayer final : public LayerOf<T> {
 public:
  explicit BatchNormLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        input_(site.input),
        epsilon_(site.node().attributes.number("epsilon")),
        momentum_(site.node().attributes.number("momentum")),
        weight_(site.parameters.at(0)),
        bias_(site.parameters.at(1)),
        running_mean_(site.parameters.at(2)),
        running_variance_(site.parameters.at(3)),
        relu_follows_(site.relu_follows) {}

  bool does_relu() const override { return relu_follows_; }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(4 * input_.channels) * sizeof(float);
  }

  std::size_t scratch_bytes() const override {
    return column_scratch<T>(context_, all_rows(), input_.channels);
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    if (step.training) {
      find_statistics(buffers, step);
    } else {
      launch(context_, "batch_norm running statistics", running_kernel, 1, block_threads,
             channel(step), saved(buffers), running_mean_.value, running_variance_.value);
    }
    with_lanes<T>(input_.channels, [&](auto lanes) {
      each_of_columns<lanes>(context_, "batch_norm forward", all_rows(), input_.channels,
                             ForwardColumns<T, lanes>{rows(step), weights(buffers, step),
                                                      buffers.input, buffers.output});
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step& step) override {
    find_gradients(buffers, step);
    if (buffers.input_gradient == nullptr) return;
    with_lanes<T>(input_.channels, [&](auto lanes) {
      each_of_columns<lanes>(
          context_, "batch_norm backward", all_rows(), input_.channels,
          BackwardColumns<T, lanes>{rows(step), weights(buffers, step), buffers.output_gradient,
                                    buffers.input, buffers.input_gradient});
    });
  }

 private:
  Channel channel(const Step& step) const {
    return {step.count, input_.channels, input_.height * input_.width, epsilon_, momentum_};
  }
  std::int64_t all_rows() const { return batch_ * input_.height * input_.width; }
  std::int64_t rows(const Step& step) const { return step.count * input_.height * input_.width; }
  Weights weights(const BuffersOf<T>& buffers, const Step& step) const {
    return {saved(buffers), weight_.value, bias_.value, relu_follows_ && !step.relu_separate};
  }

  void find_statistics(const BuffersOf<T>& buffers, const Step& step) const {
    const Statistics finish{channel(step), saved(buffers), running_mean_, running_variance_};
    with_lanes<T>(input_.channels, [&](auto lanes) {
      sum_columns<T, lanes>(context_, "batch_norm statistics", rows(step), input_.channels,
                            BandMoments<T, lanes>{buffers.input}, finish, buffers.scratch);
    });
  }
  void find_gradients(const BuffersOf<T>& buffers, const Step& step) const {
    const Gradients finish{channel(step), saved(buffers), weight_.gradient, bias_.gradient};
    with_lanes<T>(input_.channels, [&](auto lanes) {
      sum_columns<T, lanes>(
          context_, "batch_norm gradients", rows(step), input_.channels,
          BandProducts<T, lanes>{buffers.output_gradient, buffers.input, saved(buffers).mean},
          finish, buffers.scratch);
    });
  }
  Saved saved(const BuffersOf<T>& buffers) const {
    auto* start = reinterpret_cast<float*>(buffers.saved);
    const auto part = [&](std::int64_t number) { return start + number * input_.channels; };
    return {part(0), part(1), part(2), part(3)};
  }

  const Context& context_;
  std::int64_t batch_;
  Extent input_;
  double epsilon_;
  double momentum_;
  DeviceParameter weight_;
  DeviceParameter bias_;
  DeviceParameter running_mean_;
  DeviceParameter running_variance_;
  bool relu_follows_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm_layer(const LayerSite& site) {
  return make_typed<BatchNormLayer>(site);
}

}  // namespace feedrate::trainer::cuda
