#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/lanes.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cpu {
namespace {

// Sums over one plane of blocks, for each of the block's channels. In double, so that the variance
// may be taken as the difference of two sums.
FEEDRATE_VECTOR void add_moments(const float* values, std::int64_t pixels, std::int64_t block,
                                 double* sums, double* squares) {
  for_lanes(block, [&](std::int64_t first, auto lanes) {
    double sum[lanes], square[lanes];
    std::copy_n(sums + first, lanes, sum);
    std::copy_n(squares + first, lanes, square);
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int lane = 0; lane < lanes; ++lane) {
        const double value = double{values[pixel * block + first + lane]};
        sum[lane] += value;
        square[lane] += value * value;
      }
    }
    std::copy_n(sum, lanes, sums + first);
    std::copy_n(square, lanes, squares + first);
  });
}

// Σ gradient and Σ gradient · (x − mean).
FEEDRATE_VECTOR void add_gradients(const float* gradients, const float* values, std::int64_t pixels,
                                   std::int64_t block, const float* means, double* sums,
                                   double* products) {
  for_lanes(block, [&](std::int64_t first, auto lanes) {
    double sum[lanes], product[lanes];
    std::copy_n(sums + first, lanes, sum);
    std::copy_n(products + first, lanes, product);
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t i = pixel * block + first + lane;
        const double gradient = double{gradients[i]};
        sum[lane] += gradient;
        product[lane] += gradient * double{values[i] - means[first + lane]};
      }
    }
    std::copy_n(sum, lanes, sums + first);
    std::copy_n(product, lanes, products + first);
  });
}

// What every value of a channel meets, by channel; zero for channels that fill up a block.
struct Coefficients {
  float *mean, *scale, *shift;   // forward
  float *mean_gradient, *slope;  // backward
};

FEEDRATE_VECTOR void normalise(const float* in, std::int64_t pixels, std::int64_t block,
                               const Coefficients& c, float* out) {
  for_lanes(block, [&](std::int64_t first, auto lanes) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t i = pixel * block + first + lane, k = first + lane;
        out[i] = batch_normalised(in[i], c.mean[k], c.scale[k], c.shift[k]);
      }
    }
  });
}

// The gradient may be written over the output's.
FEEDRATE_VECTOR void denormalise(const float* gradient, const float* in, std::int64_t pixels,
                                 std::int64_t block, const Coefficients& c, float* out) {
  for_lanes(block, [&](std::int64_t first, auto lanes) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t i = pixel * block + first + lane, k = first + lane;
        out[i] = batch_norm_gradient(gradient[i], in[i], c.mean[k], c.scale[k], c.mean_gradient[k],
                                     c.slope[k]);
      }
    }
  });
}

// Images are shared among the threads; each sums its own part of every channel, and the parts are
// added in order.
class BatchNormLayer final : public Layer {
 public:
  explicit BatchNormLayer(const LayerSite& site)
      : Layer(site, site.input),
        batch_(site.batch),
        channels_(site.input.extent.channels),
        width_(site.input.blocks() * site.input.block),
        plane_(site.input.pixels() * site.input.block),
        epsilon_(site.node().attributes.number("epsilon")),
        momentum_(site.node().attributes.number("momentum")),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {}

  // The batch's means, and one over its deviations.
  std::size_t kept_bytes() const override { return floats(2 * width_); }
  // Two sums for each thread, then the coefficients.
  std::size_t scratch_bytes() const override { return sums_bytes() + floats(5 * width_); }

  void forward(const Pass& pass) override {
    if (pass.training) take_statistics(pass);
    const Coefficients c = coefficients();
    for (std::int64_t k = 0; k < channels_; ++k) {
      const float inverse = pass.training ? inverses()[k] : running_inverse(k);
      c.mean[k] = pass.training ? means()[k] : buffers().parameters[2][k];
      c.scale[k] = buffers().parameters[0][k] * inverse;
      c.shift[k] = buffers().parameters[1][k];
    }
    each_plane(pass, buffers().output, [&](std::int64_t at, std::int64_t first) {
      normalise(buffers().input + at, output().pixels(), output().block, from(c, first),
                buffers().output + at);
    });
  }

  void backward(const Pass& pass) override {
    sum_up(pass, [&](std::int64_t at, std::int64_t first, double* sums, double* products) {
      add_gradients(buffers().output_gradient + at, buffers().input + at, output().pixels(),
                    output().block, means() + first, sums, products);
    });
    const Coefficients c = coefficients();
    for (std::int64_t k = 0; k < channels_; ++k) {
      const double inverse = double{inverses()[k]};
      buffers().gradients[0][k] = static_cast<float>(products()[k] * inverse);
      buffers().gradients[1][k] = static_cast<float>(sums()[k]);
      c.mean[k] = means()[k];
      c.scale[k] = buffers().parameters[0][k] * inverses()[k];
      c.mean_gradient[k] = static_cast<float>(sums()[k] / values(pass));
      c.slope[k] = static_cast<float>(products()[k] / values(pass) * inverse * inverse);
    }
    if (buffers().input_gradient == nullptr) return;
    each_plane(pass, buffers().input_gradient, [&](std::int64_t at, std::int64_t first) {
      denormalise(buffers().output_gradient + at, buffers().input + at, output().pixels(),
                  output().block, from(c, first), buffers().input_gradient + at);
    });
  }

 private:
  static std::size_t floats(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(float);
  }
  std::size_t sums_bytes() const {
    return static_cast<std::size_t>(2 * width_) * threads_ * sizeof(double);
  }
  float* means() const { return reinterpret_cast<float*>(buffers().kept); }
  float* inverses() const { return means() + width_; }
  // Those of the first thread, and after sum_up() those of all.
  double* sums() const { return reinterpret_cast<double*>(buffers().scratch); }
  double* products() const { return sums() + width_; }
  // Of a channel that the batch holds.
  double values(const Pass& pass) const {
    return static_cast<double>(pass.count) * static_cast<double>(output().pixels());
  }

  Coefficients coefficients() const {
    auto* start = reinterpret_cast<float*>(buffers().scratch + sums_bytes());
    std::fill_n(start, 5 * width_, 0.0F);
    return {start, start + width_, start + 2 * width_, start + 3 * width_, start + 4 * width_};
  }
  static Coefficients from(const Coefficients& c, std::int64_t first) {
    return {c.mean + first, c.scale + first, c.shift + first, c.mean_gradient + first,
            c.slope + first};
  }
  float running_inverse(std::int64_t k) const {
    return static_cast<float>(1 / std::sqrt(double{buffers().parameters[3][k]} + epsilon_));
  }

  void take_statistics(const Pass& pass) {
    sum_up(pass, [&](std::int64_t at, std::int64_t first, double* sum, double* squares) {
      add_moments(buffers().input + at, output().pixels(), output().block, sum, squares);
      static_cast<void>(first);
    });
    std::fill_n(means(), 2 * width_, 0.0F);
    for (std::int64_t k = 0; k < channels_; ++k) {
      const double mean = sums()[k] / values(pass);
      // A rounding error must not hide NaN.
      const double difference = products()[k] / values(pass) - mean * mean;
      const double variance = difference < 0 ? 0 : difference;
      means()[k] = static_cast<float>(mean);
      inverses()[k] = static_cast<float>(1 / std::sqrt(variance + epsilon_));
      float& running_mean = buffers().parameters[2][k];
      float& running_variance = buffers().parameters[3][k];
      running_mean = static_cast<float>(running_statistic(double{running_mean}, mean, momentum_));
      running_variance = static_cast<float>(running_statistic(
          double{running_variance}, unbiased_variance(variance, values(pass)), momentum_));
    }
  }

  // add(offset of a plane, its first channel, two sums of that channel on).
  template <class Add>
  void sum_up(const Pass& pass, const Add& add) const {
    on_threads(threads_, [&](unsigned thread) {
      double* mine = sums() + 2 * width_ * thread;
      std::fill_n(mine, 2 * width_, 0.0);
      const Range range = share_of(pass.count, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        for (std::int64_t block = 0; block < output().blocks(); ++block) {
          const std::int64_t first = block * output().block;
          add((image * output().blocks() + block) * plane_, first, mine + first,
              mine + width_ + first);
        }
      }
    });
    for (unsigned thread = 1; thread < threads_; ++thread) {
      const double* theirs = sums() + 2 * width_ * thread;
      for (std::int64_t i = 0; i < 2 * width_; ++i) sums()[i] += theirs[i];
    }
  }

  // work(offset of a plane, its first channel) for the images that are there; zeros in `out` for
  // the others.
  template <class Work>
  void each_plane(const Pass& pass, float* out, const Work& work) const {
    on_shares(threads_, batch_ * output().blocks(), 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        if (i / output().blocks() < pass.count) {
          work(i * plane_, i % output().blocks() * output().block);
        } else {
          std::fill_n(out + i * plane_, plane_, 0.0F);
        }
      }
    });
  }

  std::int64_t batch_, channels_;
  std::int64_t width_;  // channels, filling ones included
  std::int64_t plane_;  // floats of one block's plane
  double epsilon_, momentum_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm_layer(const LayerSite& site) {
  return std::make_unique<BatchNormLayer>(site);
}

}  // namespace feedrate::cpu
