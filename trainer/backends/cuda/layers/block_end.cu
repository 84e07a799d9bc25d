// The end of a residual block, relu(branch + shortcut), with the norms of its inputs
// (trainer/graph/fusion.h). Forward normalises, adds and stores which values are positive, one bit
// each. Backward adds the terms of the output gradient, does the relu's, and finds the sums that
// the norms need, in one pass:
//
//   forward    conv's output, shortcut ─────────────► output, bits
//   backward   two terms, bits, conv's output(s) ───► gradient, sums by channel
//
// If both inputs are normalised, a second kernel of backward reads the gradient once for both
// norms.

#include "trainer/backends/cuda/layers/block_end.cuh"

#include <array>

#include "trainer/backends/cuda/layers/norm_channels.cuh"

namespace feedrate::trainer::cuda {
namespace {

/// Which of a thread's values are positive; `lanes` is at most 8.
template <class T, unsigned lanes>
__device__ std::uint8_t positive(const Lanes<T, lanes>& values) {
  unsigned bits = 0;
  for (unsigned k = 0; k < lanes; ++k) {
    bits |= static_cast<float>(static_cast<T>(values.values[k])) > 0.0F ? 1U << k : 0U;
  }
  return static_cast<std::uint8_t>(bits);
}

template <class T, unsigned lanes>
struct EndForwardColumns {
  std::int64_t rows;  // of the images present
  NormChannels norms[2];
  bool normalises[2];
  const T* inputs[2];
  T* output;
  std::uint8_t* bits;  // by `lanes` values
  struct Column {
    EndForwardColumns body;
    ChannelForward channels[2][lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      Lanes<T, lanes> terms[2];
      for (unsigned s = 0; s < 2; ++s) {
        terms[s] = load<T, lanes>(body.inputs[s] + i);
        if (!body.normalises[s]) continue;
        for (unsigned k = 0; k < lanes; ++k) {
          float& value = terms[s].values[k];
          value = row < body.rows ? channels[s][k](value) : 0.0F;
        }
      }
      for (unsigned k = 0; k < lanes; ++k) {
        terms[0].values[k] = relu(terms[0].values[k] + terms[1].values[k]);
      }
      store(body.output + i, terms[0]);
      body.bits[i / lanes] = positive<T, lanes>(terms[0]);
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned s = 0; s < 2; ++s) {
      for (unsigned k = 0; k < lanes && normalises[s]; ++k) {
        column.channels[s][k] = norms[s].forward(c + k);
      }
    }
    return column;
  }
};

/// The sum of the gradients of a channel, and for each of `count` norms that of gradient × (x − mean).
/// The loads of a row do not depend on one another, and come before the store: it may write to what
/// is loaded, so that none would pass it.
template <class T, unsigned lanes, int count>
struct EndBackwardColumns {
  std::int64_t rows;
  const T* terms[2];         // the second may be null
  const std::uint8_t* bits;  // null: the signs of `output`
  const T* output;
  std::array<const T*, count> inputs;  // of the norms
  std::array<const float*, count> means;
  T* gradient;
  struct Column {
    EndBackwardColumns body;
    std::array<std::array<float, lanes>, count> means;
    __device__ void operator()(std::int64_t row, std::int64_t i,
                               ColumnSums<SumOf<T>, 1 + count>* sums) const {
      Lanes<T, lanes> values[count + 1];
      for (int s = 0; s < count; ++s) values[s] = load<T, lanes>(body.inputs[s] + i);
      auto gradients = load<T, lanes>(body.terms[0] + i);
      if (body.terms[1] != nullptr) {
        const auto more = load<T, lanes>(body.terms[1] + i);
        for (unsigned k = 0; k < lanes; ++k) gradients.values[k] += more.values[k];
      }
      const unsigned open = body.bits != nullptr
                                ? body.bits[i / lanes]
                                : positive<T, lanes>(load<T, lanes>(body.output + i));
      for (unsigned k = 0; k < lanes; ++k) {
        // Rounds as storing does, because the norms read it again.
        gradients.values[k] =
            (open >> k & 1U) == 0 ? 0.0F : static_cast<float>(static_cast<T>(gradients.values[k]));
      }
      store(body.gradient + i, gradients);
      if (row >= body.rows) return;
      for (unsigned k = 0; k < lanes; ++k) sums[k].values[0] += gradients.values[k];
      for (int s = 0; s < count; ++s) {
        for (unsigned k = 0; k < lanes; ++k) {
          const SumOf<T> gradient = gradients.values[k];
          sums[k].values[1 + s] += gradient * (values[s].values[k] - means[s][k]);
        }
      }
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (int s = 0; s < count; ++s) {
      for (unsigned k = 0; k < lanes; ++k) column.means[s][k] = means[s][c + k];
    }
    return column;
  }
};

template <class T, unsigned lanes>
struct InputColumns {
  std::int64_t rows;
  NormChannels norms[2];
  const T* gradient;
  const T* inputs[2];
  T* input_gradients[2];  // one may be `gradient`
  struct Column {
    InputColumns body;
    ChannelBackward channels[2][lanes];
    __device__ void operator()(std::int64_t row, std::int64_t i) const {
      const auto gradients = load<T, lanes>(body.gradient + i);
      for (unsigned s = 0; s < 2; ++s) {
        auto values = load<T, lanes>(body.inputs[s] + i);
        for (unsigned k = 0; k < lanes; ++k) {
          float& value = values.values[k];
          value = row < body.rows ? channels[s][k](gradients.values[k], value) : 0.0F;
        }
        store(body.input_gradients[s] + i, values);
      }
    }
  };
  __device__ Column column(std::int64_t c) const {
    Column column{*this, {}};
    for (unsigned s = 0; s < 2; ++s) {
      for (unsigned k = 0; k < lanes; ++k) column.channels[s][k] = norms[s].backward(c + k);
    }
    return column;
  }
};

template <int count>
struct EndFinish {
  std::array<NormGradients, count> norms;
  __device__ void operator()(std::int64_t k, const ColumnSums<double, 1 + count>& sums) const {
    for (int s = 0; s < count; ++s) norms[s].write(k, sums.values[0], sums.values[1 + s]);
  }
};

template <class T>
class BlockEndLayer final : public LayerOf<T> {
 public:
  explicit BlockEndLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        extent_(site.input),
        forward_(site.block_end->forward),
        backward_(site.block_end->backward),
        plain_(make_sum_layer(site)) {
    for (std::size_t s = 0; s < 2; ++s) {
      const std::size_t norm = site.block_end->norms[s];
      if (norm == no_node) continue;
      norms_[s].emplace(site.graph.nodes[norm], extent_, site.norm_parameters[s]);
    }
  }

  bool does_relu() const override { return true; }
  std::size_t saved_bytes() const override {
    return forward_ ? static_cast<std::size_t>(batch_ * extent_.elements()) /
                          lanes_of<T>(extent_.channels)
                    : 0;
  }
  std::size_t scratch_bytes() const override {
    return column_scratch<T, 3>(context_, all_rows(), extent_.channels);
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    if (!forward_ || step.unfused) return plain_->forward(buffers.untyped(), step);
    with_lanes<T>(extent_.channels, [&](auto lanes) {
      EndForwardColumns<T, lanes> columns{.rows = rows(step),
                                          .norms = {},
                                          .normalises = {},
                                          .inputs = {buffers.inputs(0), buffers.inputs(1)},
                                          .output = buffers.output,
                                          .bits = bits(buffers)};
      for (std::size_t s = 0; s < 2; ++s) {
        if (!norms_[s]) continue;
        const Buffers& norm = buffers.norm(s);
        columns.norms[s] = norms_[s]->channels(norm.saved);
        columns.normalises[s] = true;
        columns.inputs[s] = reinterpret_cast<const T*>(norm.inputs[0]);
      }
      each_of_columns<lanes>(context_, "block end forward", all_rows(), extent_.channels, columns);
    });
  }

  void run_backward(const BuffersOf<T>& buffers, const Step& step) override {
    if (backward_) find_gradient(buffers, step);
    if (backward_ && norms_[0] && norms_[1]) find_input_gradients(buffers, step);
    plain_->backward(buffers.untyped(), step);  // copies what is not read where it lies
  }

 private:
  std::int64_t all_rows() const { return batch_ * extent_.height * extent_.width; }
  std::int64_t rows(const Step& step) const { return step.count * extent_.height * extent_.width; }
  std::uint8_t* bits(const BuffersOf<T>& buffers) const {
    return reinterpret_cast<std::uint8_t*>(buffers.saved);
  }

  void find_gradient(const BuffersOf<T>& buffers, const Step& step) const {
    switch (norms_[0].has_value() + norms_[1].has_value()) {
      case 0:
        return find_gradient<0>(buffers, step);
      case 1:
        return find_gradient<1>(buffers, step);
      default:
        return find_gradient<2>(buffers, step);
    }
  }

  /// `count`: of the inputs that are normalised.
  template <int count>
  void find_gradient(const BuffersOf<T>& buffers, const Step& step) const {
    with_lanes<T>(extent_.channels, [&](auto lanes) {
      T* gradient = buffers.own_gradient();
      EndBackwardColumns<T, lanes, count> columns{.rows = rows(step),
                                                  .terms = {gradient, buffers.second_term()},
                                                  .bits = forward_ ? bits(buffers) : nullptr,
                                                  .output = buffers.output,
                                                  .inputs = {},
                                                  .means = {},
                                                  .gradient = gradient};
      EndFinish<count> finish{};
      std::size_t found = 0;
      for (std::size_t s = 0; s < 2; ++s) {
        if (!norms_[s]) continue;
        const Buffers& norm = buffers.norm(s);
        columns.inputs[found] = reinterpret_cast<const T*>(norm.inputs[0]);
        columns.means[found] = norms_[s]->saved(norm.saved).mean;
        finish.norms[found++] = norms_[s]->gradients(step.count, norm.saved);
      }
      sum_columns<T, lanes, 1 + count>(context_, "block end backward", all_rows(), extent_.channels,
                                       columns, finish, buffers.scratch);
    });
  }

  void find_input_gradients(const BuffersOf<T>& buffers, const Step& step) const {
    with_lanes<T>(extent_.channels, [&](auto lanes) {
      InputColumns<T, lanes> columns{.rows = rows(step),
                                     .norms = {},
                                     .gradient = buffers.output_gradient,
                                     .inputs = {},
                                     .input_gradients = {}};
      for (std::size_t s = 0; s < 2; ++s) {
        const Buffers& norm = buffers.norm(s);
        columns.norms[s] = norms_[s]->channels(norm.saved);
        columns.inputs[s] = reinterpret_cast<const T*>(norm.inputs[0]);
        columns.input_gradients[s] = reinterpret_cast<T*>(norm.input_gradients[0]);
      }
      each_of_columns<lanes>(context_, "block end, two norms", all_rows(), extent_.channels,
                             columns);
    });
  }

  const Context& context_;
  std::int64_t batch_;
  Extent extent_;
  bool forward_;
  bool backward_;
  std::unique_ptr<Layer> plain_;  // the sum and the relu alone
  std::optional<Norm> norms_[2];
};

}  // namespace

std::unique_ptr<Layer> make_block_end_layer(const LayerSite& site) {
  return make_typed<BlockEndLayer>(site);
}

}  // namespace feedrate::trainer::cuda
