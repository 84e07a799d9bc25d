// Batch normalisation: sums over each channel, then a kernel over all values. Forward also computes
// a relu that follows in place, and backward that relu's, whose sign it finds again from the input.
// At the end of a residual block the sum may normalise, and find the sums of backward
// (block_end.cu).

#include "trainer/backends/cuda/layers/norm_channels.cuh"

namespace feedrate::trainer::cuda {
namespace {

__global__ void running_kernel(NormValues of, NormSaved saved, const float* running_mean,
                               const float* running_variance) {
  begin_kernel();
  for (std::int64_t k = threadIdx.x; k < of.channels; k += blockDim.x) {
    saved.mean[k] = running_mean[k];
    saved.inverse[k] =
        static_cast<float>(1 / sqrt(static_cast<double>(running_variance[k]) + of.epsilon));
  }
}

// `lanes` channels per thread.
template <class T, unsigned lanes>
struct Moments {
  static constexpr unsigned rows_at_once = 2;
  const T* input;
  struct Column {
    const T* input;
    __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>, 2>* sums) const {
      const auto values = load<T, lanes>(input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const SumOf<T> value = values.values[k];
        sums[k].values[0] += value;
        sums[k].values[1] += value * value;
      }
    }
  };
  __device__ Column column(std::int64_t) const { return {input}; }
};

/// The gradient before the relu behind the norm: the forward pass stored max(0, value) as a T.
template <class T>
__device__ float before_relu(float gradient, float value) {
  return relu_gradient(gradient, static_cast<float>(static_cast<T>(value)));
}

template <class T, unsigned lanes, bool masked>
struct Products {
  NormChannels channels;
  const T* output_gradient;
  const T* input;
  struct Column {
    Products body;
    ChannelForward forward[lanes];
    __device__ void operator()(std::int64_t, std::int64_t i, ColumnSums<SumOf<T>, 2>* sums) const {
      const auto gradients = load<T, lanes>(body.output_gradient + i);
      const auto values = load<T, lanes>(body.input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const float x = values.values[k];
        const SumOf<T> gradient =
            masked ? before_relu<T>(gradients.values[k], forward[k](x)) : gradients.values[k];
        sums[k].values[0] += gradient;
        sums[k].values[1] += gradient * (x - forward[k].mean);
      }
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned k = 0; k < lanes; ++k) column.forward[k] = channels.forward(c + k);
    return column;
  }
};

template <class T, unsigned lanes>
struct NormForwardColumns {
  std::int64_t rows;  // of the images present
  NormChannels channels;
  bool then_relu;
  const T* input;
  T* output;
  struct Column {
    NormForwardColumns body;
    ChannelForward channels[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto values = load<T, lanes>(body.input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const float value = row < body.rows ? channels[k](values.values[k]) : 0.0F;
        values.values[k] = body.then_relu ? relu(value) : value;
      }
      store(body.output + i, values);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned k = 0; k < lanes; ++k) column.channels[k] = channels.forward(c + k);
    return column;
  }
};

template <class T, unsigned lanes, bool masked>
struct NormBackwardColumns {
  std::int64_t rows;
  NormChannels channels;
  const T* output_gradient;
  const T* input;
  T* input_gradient;
  struct Column {
    NormBackwardColumns body;
    ChannelBackward channels[lanes];
    float shifts[lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      auto gradients = load<T, lanes>(body.output_gradient + i);
      const auto values = load<T, lanes>(body.input + i);
      for (unsigned k = 0; k < lanes; ++k) {
        const float x = values.values[k];
        float gradient = gradients.values[k];
        if constexpr (masked) {
          const ChannelForward forward{channels[k].mean, channels[k].scale, shifts[k]};
          gradient = before_relu<T>(gradient, forward(x));
        }
        gradients.values[k] = row < body.rows ? channels[k](gradient, x) : 0.0F;
      }
      store(body.input_gradient + i, gradients);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}, {}};
    for (unsigned k = 0; k < lanes; ++k) {
      column.channels[k] = channels.backward(c + k);
      column.shifts[k] = channels.forward(c + k).shift;
    }
    return column;
  }
};

struct NormFinish {
  NormGradients gradients;
  __device__ void operator()(std::int64_t k, const ColumnSums<double, 2>& sums) const {
    gradients.write(k, sums.values[0], sums.values[1]);
  }
};

template <class T>
class BatchNormLayer final : public LayerOf<T> {
 public:
  explicit BatchNormLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        input_(site.input),
        norm_(site.node(), site.input, site.parameters),
        relu_follows_(site.relu_follows),
        masks_(site.masks_relu),
        sum_normalises_(site.block_end != nullptr && site.block_end->forward),
        sum_finds_sums_(site.block_end != nullptr && site.block_end->backward) {}

  bool does_relu() const override { return relu_follows_; }
  std::size_t saved_bytes() const override { return norm_.saved_bytes(); }
  std::size_t scratch_bytes() const override {
    return column_scratch<T, 2>(context_, all_rows(), input_.channels);
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    if (step.training) {
      find_statistics(buffers, step);
    } else {
      launch(context_, "batch_norm running statistics", running_kernel, 1, block_threads,
             norm_.values(step.count), norm_.saved(buffers.saved), norm_.running_mean(),
             norm_.running_variance());
    }
    if (sum_normalises_ && !step.unfused) return;
    with_lanes<T>(input_.channels, [&](auto lanes) {
      each_of_columns<lanes>(context_, "batch_norm forward", all_rows(), input_.channels,
                             NormForwardColumns<T, lanes>{rows(step), norm_.channels(buffers.saved),
                                                          relu_follows_ && !step.unfused,
                                                          buffers.input, buffers.output});
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step& step) override {
    with_lanes<T>(input_.channels, [&](auto lanes) {
      if (masks_) {
        backward<lanes, true>(buffers, step);
      } else {
        backward<lanes, false>(buffers, step);
      }
    });
  }

 private:
  std::int64_t all_rows() const { return batch_ * input_.height * input_.width; }
  std::int64_t rows(const Step& step) const { return step.count * input_.height * input_.width; }

  void find_statistics(const BuffersOf<T>& buffers, const Step& step) const {
    with_lanes<T>(input_.channels, [&](auto lanes) {
      sum_columns<T, lanes, 2>(context_, "batch_norm statistics", rows(step), input_.channels,
                               Moments<T, lanes>{buffers.input},
                               norm_.statistics(step.count, buffers.saved), buffers.scratch);
    });
  }

  template <unsigned lanes, bool masked>
  void backward(const BuffersOf<T>& buffers, const Step& step) const {
    const NormChannels channels = norm_.channels(buffers.saved);
    if (!sum_finds_sums_) {
      sum_columns<T, lanes, 2>(
          context_, "batch_norm gradients", rows(step), input_.channels,
          Products<T, lanes, masked>{channels, buffers.output_gradient, buffers.input},
          NormFinish{norm_.gradients(step.count, buffers.saved)}, buffers.scratch);
    }
    if (buffers.input_gradient == nullptr) return;
    each_of_columns<lanes>(
        context_, "batch_norm backward", all_rows(), input_.channels,
        NormBackwardColumns<T, lanes, masked>{rows(step), channels, buffers.output_gradient,
                                              buffers.input, buffers.input_gradient});
  }

  const Context& context_;
  std::int64_t batch_;
  Extent input_;
  Norm norm_;
  bool relu_follows_;
  bool masks_;           // backward does the relu's too
  bool sum_normalises_;  // the sum behind it
  bool sum_finds_sums_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm_layer(const LayerSite& site) {
  return make_typed<BatchNormLayer>(site);
}

}  // namespace feedrate::trainer::cuda
