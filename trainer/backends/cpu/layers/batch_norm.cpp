#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/block_end.h"
#include "trainer/backends/cpu/values/norm_plane.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// With enough blocks, threads share the blocks: the values that were summed are then still in the
// cache when they are normalised. Otherwise threads share the images: each sums its own part of
// every channel, and the parts are added in order.
//
// The last norm of a residual block may compute the whole end of the block, relu(norm + other).
template <class T>
class BatchNormLayer final : public LayerOf<T> {
 public:
  explicit BatchNormLayer(const LayerSite& site)
      : LayerOf<T>(site, site.input),
        batch_(site.batch),
        channels_(site.input.extent.channels),
        width_(site.input.blocks() * site.input.block),
        plane_{site.input.pixels(), site.input.block},
        epsilon_(site.node().attributes.number("epsilon")),
        momentum_(site.node().attributes.number("momentum")),
        relu_follows_(site.relu_follows),
        by_blocks_(site.input.blocks() % site.threads == 0 ||
                   site.input.blocks() >= 8 * std::int64_t{site.threads}),
        threads_(by_blocks_
                     ? site.threads
                     : static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {}

  bool does_relu() const override { return relu_follows_; }

  // The batch's means, the inverses of its deviations, and the next running statistics: a step that
  // diverges must not change the statistics, and divergence is known only after the forward pass.
  std::size_t saved_bytes() const override { return floats(4 * width_); }
  // Two sums of every channel for each thread, then the coefficients.
  std::size_t scratch_bytes() const override { return sums_bytes() + floats(5 * width_); }

  void forward(const Step& step) override {
    const NormCoefficients c = coefficients();
    const bool with_sum = end().other != nullptr && !step.relu_separate;
    const auto write = [&](std::int64_t at, std::int64_t first) {
      if (with_sum) {
        return normalise_and_add(buffers().input + at, end().other + at, plane_, from(c, first),
                                 end().output + at);
      }
      normalise(relu_follows_ && !step.relu_separate, buffers().input + at, plane_, from(c, first),
                buffers().output + at);
    };
    T* out = with_sum ? end().output : buffers().output;
    if (!step.training) {
      take_running_statistics(c);
      return each_plane(step, out, write);
    }
    const auto add = [&](std::int64_t at, std::int64_t first, double* sums, double* squares) {
      static_cast<void>(first);
      add_moments(buffers().input + at, plane_, sums, squares);
    };
    run(
        step, out, add, [&](const Range& channels) { take_statistics(step, channels, c); }, write);
  }

  void backward(const Step& step) override {
    std::copy_n(next_means(), channels_, buffers().parameters[2]);
    std::copy_n(next_variances(), channels_, buffers().parameters[3]);
    const NormCoefficients c = coefficients();
    for (std::int64_t k = 0; k < channels_; ++k) {
      c.mean[k] = means()[k];
      c.scale[k] = buffers().parameters[0][k] * inverses()[k];
      c.shift[k] = buffers().parameters[1][k];
    }
    if (end().masked != nullptr) return backward_with_sum(step, c);
    const auto add = [&](std::int64_t at, std::int64_t first, double* sums, double* products) {
      add_gradients(relu_follows_, buffers().output_gradient + at, buffers().input + at, plane_,
                    from(c, first), sums, products);
    };
    const auto finish = [&](const Range& channels) { take_gradients(step, channels, c); };
    run(step, buffers().input_gradient, add, finish, [&](std::int64_t at, std::int64_t first) {
      denormalise(relu_follows_, buffers().output_gradient + at, buffers().input + at, plane_,
                  from(c, first), buffers().input_gradient + at);
    });
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  const BlockEndOf<T>& end() const { return buffers().end; }

  void backward_with_sum(const Step& step, const NormCoefficients& c) const {
    const EndGradients<T> gradients{end().gradient, end().term, end().output, end().masked};
    T* const masked = end().masked;
    std::fill(masked + offset(step.count, 0), masked + offset(batch_, 0), T(0.0F));
    const auto add = [&](std::int64_t at, std::int64_t first, double* sums, double* products) {
      add_end_gradients(gradients.from(at), buffers().input + at, plane_, from(c, first), sums,
                        products);
    };
    const auto finish = [&](const Range& channels) { take_gradients(step, channels, c); };
    run(step, buffers().input_gradient, add, finish, [&](std::int64_t at, std::int64_t first) {
      denormalise(false, masked + at, buffers().input + at, plane_, from(c, first),
                  buffers().input_gradient + at);
    });
  }

  static std::size_t floats(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(float);
  }
  std::size_t sums_bytes() const {
    return static_cast<std::size_t>(2 * width_) * threads_ * sizeof(double);
  }
  float* means() const { return reinterpret_cast<float*>(buffers().saved); }
  float* inverses() const { return means() + width_; }
  float* next_means() const { return means() + 2 * width_; }
  float* next_variances() const { return means() + 3 * width_; }
  // The sums of the first thread; in the end those of all threads.
  double* sums() const { return reinterpret_cast<double*>(buffers().scratch); }
  double* products() const { return sums() + width_; }
  // The number of values of a channel in the batch.
  double values(const Step& step) const {
    return static_cast<double>(step.count) * static_cast<double>(plane_.pixels);
  }

  NormCoefficients coefficients() const {
    auto* start = reinterpret_cast<float*>(buffers().scratch + sums_bytes());
    std::fill_n(start, 5 * width_, 0.0F);
    return {start, start + width_, start + 2 * width_, start + 3 * width_, start + 4 * width_};
  }
  static NormCoefficients from(const NormCoefficients& c, std::int64_t first) {
    return {c.mean + first, c.scale + first, c.shift + first, c.mean_gradient + first,
            c.slope + first};
  }

  void take_running_statistics(const NormCoefficients& c) const {
    for (std::int64_t k = 0; k < channels_; ++k) {
      const double deviation = std::sqrt(double{buffers().parameters[3][k]} + epsilon_);
      c.mean[k] = buffers().parameters[2][k];
      c.scale[k] = buffers().parameters[0][k] * static_cast<float>(1 / deviation);
      c.shift[k] = buffers().parameters[1][k];
    }
  }

  // Computes the coefficients of these channels from their sums.
  void take_statistics(const Step& step, const Range& channels, const NormCoefficients& c) const {
    for (std::int64_t k = channels.begin; k < channels.end; ++k) {
      const double mean = sums()[k] / values(step);
      // Rounding may make it negative; NaN must stay NaN.
      const double difference = products()[k] / values(step) - mean * mean;
      const double variance = difference < 0 ? 0 : difference;
      means()[k] = static_cast<float>(mean);
      inverses()[k] = static_cast<float>(1 / std::sqrt(variance + epsilon_));
      next_means()[k] = static_cast<float>(
          running_statistic(double{buffers().parameters[2][k]}, mean, momentum_));
      next_variances()[k] = static_cast<float>(
          running_statistic(double{buffers().parameters[3][k]},
                            unbiased_variance(variance, values(step)), momentum_));
      c.mean[k] = means()[k];
      c.scale[k] = buffers().parameters[0][k] * inverses()[k];
      c.shift[k] = buffers().parameters[1][k];
    }
  }

  void take_gradients(const Step& step, const Range& channels, const NormCoefficients& c) const {
    for (std::int64_t k = channels.begin; k < channels.end; ++k) {
      const double inverse = double{inverses()[k]};
      buffers().gradients[0][k] = static_cast<float>(products()[k] * inverse);
      buffers().gradients[1][k] = static_cast<float>(sums()[k]);
      c.mean_gradient[k] = static_cast<float>(sums()[k] / values(step));
      c.slope[k] = static_cast<float>(products()[k] / values(step) * inverse * inverse);
    }
  }

  // Calls add(plane offset, first channel, sums) for each image of the batch, where `sums` begin at
  // that channel, finish(channels) when their sums are complete, then each_plane(). Without `out`,
  // only the sums are computed.
  template <class Add, class Finish, class Write>
  void run(const Step& step, T* out, const Add& add, const Finish& finish,
           const Write& write) const {
    if (!by_blocks_) {
      sum_up(step, add);
      finish({0, channels_});
      if (out != nullptr) each_plane(step, out, write);
      return;
    }
    on_shares(threads_, output().blocks(), 1, [&](const Range& blocks) {
      for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
        const std::int64_t first = block * plane_.block;
        std::fill_n(sums() + first, plane_.block, 0.0);
        std::fill_n(products() + first, plane_.block, 0.0);
        for (std::int64_t image = 0; image < step.count; ++image) {
          add(offset(image, block), first, sums() + first, products() + first);
        }
        finish({first, std::min(first + plane_.block, channels_)});
        for (std::int64_t image = 0; out != nullptr && image < batch_; ++image) {
          write_plane(step, image, block, out, write);
        }
      }
    });
  }

  template <class Add>
  void sum_up(const Step& step, const Add& add) const {
    on_threads(threads_, [&](unsigned thread) {
      double* mine = sums() + 2 * width_ * thread;
      std::fill_n(mine, 2 * width_, 0.0);
      const Range range = share_of(step.count, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        for (std::int64_t block = 0; block < output().blocks(); ++block) {
          const std::int64_t first = block * plane_.block;
          add(offset(image, block), first, mine + first, mine + width_ + first);
        }
      }
    });
    for (unsigned thread = 1; thread < threads_; ++thread) {
      const double* theirs = sums() + 2 * width_ * thread;
      for (std::int64_t i = 0; i < 2 * width_; ++i) sums()[i] += theirs[i];
    }
  }

  // Calls write(offset of a plane, its first channel) for actual images; fills `out` with zeros for
  // missing ones.
  template <class Write>
  void each_plane(const Step& step, T* out, const Write& write) const {
    on_shares(threads_, batch_ * output().blocks(), 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        write_plane(step, i / output().blocks(), i % output().blocks(), out, write);
      }
    });
  }
  template <class Write>
  void write_plane(const Step& step, std::int64_t image, std::int64_t block, T* out,
                   const Write& write) const {
    const std::int64_t at = offset(image, block);
    if (image < step.count) {
      write(at, block * plane_.block);
    } else {
      std::fill_n(out + at, plane_.size(), T(0.0F));
    }
  }
  std::int64_t offset(std::int64_t image, std::int64_t block) const {
    return (image * output().blocks() + block) * plane_.size();
  }

  std::int64_t batch_, channels_;
  std::int64_t width_;  // channels, padding ones included
  NormPlane plane_;
  double epsilon_, momentum_;
  bool relu_follows_, by_blocks_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm_layer(const LayerSite& site) {
  return make_typed<BatchNormLayer>(site);
}

}  // namespace feedrate::trainer::cpu
