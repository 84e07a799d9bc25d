#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cpu {
namespace {

// One pixel's channels side by side, each row with zeros for half a window at either end.
struct Rows {
  float *x, *gradient, *terms, *scale, *power;  // at the first channel
};

struct Terms {
  std::int64_t channels, half;
  float share;   // alpha / size
  float factor;  // 2 · alpha · beta / size
  float k, beta;
};

FEEDRATE_VECTOR void window_sums(const float* values, const Terms& t, float* sums) {
  for (std::int64_t c = 0; c < t.channels; ++c) sums[c] = 0;
  for (std::int64_t d = -t.half; d <= t.half; ++d) {
    for (std::int64_t c = 0; c < t.channels; ++c) sums[c] += values[c + d];
  }
}

FEEDRATE_VECTOR void square_all(const Rows& rows, const Terms& t) {
  for (std::int64_t c = 0; c < t.channels; ++c) rows.terms[c] = rows.x[c] * rows.x[c];
}

// scale holds Σ x² and becomes s; power becomes s^-beta.
FEEDRATE_VECTOR void raise_all(const Rows& rows, const Terms& t) {
  for (std::int64_t c = 0; c < t.channels; ++c) {
    rows.scale[c] = lrn_scale(rows.scale[c], t.share, t.k);
  }
  if (t.beta == 0.75F) {  // everybody's: two roots are many times faster than a power
    for (std::int64_t c = 0; c < t.channels; ++c) {
      const float root = std::sqrt(rows.scale[c]);
      rows.power[c] = 1 / (root * std::sqrt(root));
    }
  } else {
    for (std::int64_t c = 0; c < t.channels; ++c) {
      rows.power[c] = std::pow(rows.scale[c], -t.beta);
    }
  }
}

FEEDRATE_VECTOR void multiply_all(const Rows& rows, const Terms& t) {
  for (std::int64_t c = 0; c < t.channels; ++c) rows.x[c] *= rows.power[c];
}

FEEDRATE_VECTOR void gradient_terms(const Rows& rows, const Terms& t) {
  for (std::int64_t c = 0; c < t.channels; ++c) {
    rows.terms[c] = lrn_term(rows.gradient[c], rows.x[c], rows.power[c], rows.scale[c]);
  }
}

// scale holds the sums of the terms.
FEEDRATE_VECTOR void gradients_all(const Rows& rows, const Terms& t) {
  for (std::int64_t c = 0; c < t.channels; ++c) {
    rows.x[c] = lrn_gradient(rows.gradient[c], rows.x[c], rows.power[c], rows.scale[c], t.factor);
  }
}

class LrnLayer final : public Layer {
 public:
  explicit LrnLayer(const LayerSite& site)
      : Layer(site, site.input),
        batch_(site.batch),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {
    const Attributes& attributes = site.node().attributes;
    const double size = attributes.number("size"), alpha = attributes.number("alpha");
    const double beta = attributes.number("beta");
    terms_ = {.channels = output().blocks() * output().block,
              .half = attributes.integer("size") / 2,
              .share = static_cast<float>(alpha / size),
              .factor = static_cast<float>(2 * alpha * beta / size),
              .k = static_cast<float>(attributes.number("k")),
              .beta = static_cast<float>(beta)};
  }

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(threads_ * row_count * row()) * sizeof(float);
  }

  void forward(const Pass&) override {
    each_pixel([this](std::int64_t pixel, const Rows& rows) {
      gather(buffers().input + pixel, rows.x);
      normalise(rows);
      multiply_all(rows, terms_);
      scatter(rows.x, buffers().output + pixel);
    });
  }

  void backward(const Pass&) override {
    each_pixel([this](std::int64_t pixel, const Rows& rows) {
      gather(buffers().input + pixel, rows.x);
      gather(buffers().output_gradient + pixel, rows.gradient);
      normalise(rows);
      gradient_terms(rows, terms_);
      window_sums(rows.terms, terms_, rows.scale);
      gradients_all(rows, terms_);
      scatter(rows.x, buffers().input_gradient + pixel);
    });
  }

 private:
  static constexpr std::int64_t row_count = 5;
  std::int64_t row() const {
    constexpr std::int64_t line = 16;
    return (terms_.channels + 2 * terms_.half + line - 1) / line * line;
  }

  void normalise(const Rows& of) const {
    square_all(of, terms_);
    window_sums(of.terms, terms_, of.scale);
    raise_all(of, terms_);
  }

  // work(offset of the pixel in a tensor, rows of the thread at work)
  template <class Work>
  void each_pixel(const Work& work) const {
    on_threads(threads_, [&](unsigned thread) {
      float* start = reinterpret_cast<float*>(buffers().scratch) + thread * row_count * row();
      std::fill_n(start, row_count * row(), 0.0F);
      start += terms_.half;
      const Rows mine{start, start + row(), start + 2 * row(), start + 3 * row(),
                      start + 4 * row()};
      const Range range = share_of(batch_, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        for (std::int64_t pixel = 0; pixel < output().pixels(); ++pixel) {
          work(image * output().elements() + pixel * output().block, mine);
        }
      }
    });
  }

  void gather(const float* from, float* to) const {
    for (std::int64_t block = 0; block < output().blocks(); ++block) {
      std::copy_n(from + block * output().pixels() * output().block, output().block,
                  to + block * output().block);
    }
  }
  void scatter(const float* from, float* to) const {
    for (std::int64_t block = 0; block < output().blocks(); ++block) {
      std::copy_n(from + block * output().block, output().block,
                  to + block * output().pixels() * output().block);
    }
  }

  std::int64_t batch_;
  unsigned threads_;
  Terms terms_{};
};

}  // namespace

std::unique_ptr<Layer> make_lrn_layer(const LayerSite& site) {
  return std::make_unique<LrnLayer>(site);
}

}  // namespace feedrate::cpu
