#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "formats/base/bytes.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/in_fp32.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// A group of pixels: one row of channels after another, each with half a window of zeros at either
// end. So all rows form one long row, and a window reads zeros beyond the channels of its pixel.
struct Rows {
  float *x, *gradient, *terms, *scale, *power;  // from the first pixel's first channel on
};

struct Terms {
  std::int64_t half;
  float share;   // alpha / size
  float factor;  // 2 · alpha · beta / size
  float k, beta;
};

FEEDRATE_VECTOR void window_sums(const float* values, std::int64_t size, std::int64_t half,
                                 float* sums) {
  if (half == 2) {  // the usual size: one pass instead of five, in the same order
    for (std::int64_t i = 0; i < size; ++i) {
      const float* v = values + i;
      sums[i] = 0.0F + v[-2] + v[-1] + v[0] + v[1] + v[2];
    }
    return;
  }
  for (std::int64_t i = 0; i < size; ++i) sums[i] = 0;
  for (std::int64_t d = -half; d <= half; ++d) {
    for (std::int64_t i = 0; i < size; ++i) sums[i] += values[i + d];
  }
}

FEEDRATE_VECTOR void square_all(const Rows& rows, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) rows.terms[i] = rows.x[i] * rows.x[i];
}

// On entry scale holds Σ x²; it becomes s, and power becomes s^-beta.
FEEDRATE_VECTOR void raise_all(const Rows& rows, std::int64_t size, const Terms& t) {
  for (std::int64_t i = 0; i < size; ++i) {
    rows.scale[i] = lrn_scale(rows.scale[i], t.share, t.k);
  }
  if (t.beta == 0.75F) {  // the usual beta: two roots are many times faster than a power
    for (std::int64_t i = 0; i < size; ++i) {
      const float root = std::sqrt(rows.scale[i]);
      rows.power[i] = 1 / (root * std::sqrt(root));
    }
  } else {
    for (std::int64_t i = 0; i < size; ++i) {
      rows.power[i] = std::pow(rows.scale[i], -t.beta);
    }
  }
}

FEEDRATE_VECTOR void multiply_all(const Rows& rows, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) rows.x[i] *= rows.power[i];
}

FEEDRATE_VECTOR void gradient_terms(const Rows& rows, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) {
    rows.terms[i] = lrn_term(rows.gradient[i], rows.x[i], rows.power[i], rows.scale[i]);
  }
}

// On entry scale holds the sums of the terms; x becomes the gradient.
FEEDRATE_VECTOR void gradients_all(const Rows& rows, std::int64_t size, const Terms& t) {
  for (std::int64_t i = 0; i < size; ++i) {
    rows.x[i] = lrn_gradient(rows.gradient[i], rows.x[i], rows.power[i], rows.scale[i], t.factor);
  }
}

class LrnLayer final : public LayerOf<float> {
 public:
  explicit LrnLayer(const LayerSite& site)
      : LayerOf(site, site.input),
        batch_(site.batch),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {
    const Attributes& attributes = site.node().attributes;
    const double size = attributes.number("size"), alpha = attributes.number("alpha");
    const double beta = attributes.number("beta");
    terms_ = {.half = attributes.integer("size") / 2,
              .share = static_cast<float>(alpha / size),
              .factor = static_cast<float>(2 * alpha * beta / size),
              .k = static_cast<float>(attributes.number("k")),
              .beta = static_cast<float>(beta)};
    row_ = output().blocks() * output().block + 2 * terms_.half;
    group_ = std::max<std::int64_t>(1, group_floats / row_);
  }

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(threads_ * row_count * rows_size()) * sizeof(float);
  }

  void forward(const Step&) override {
    each_group([this](std::int64_t at, std::int64_t pixels, const Rows& rows) {
      const std::int64_t size = pixels * row_;
      gather(buffers().input + at, pixels, rows.x);
      normalise(rows, size);
      multiply_all(rows, size);
      scatter(rows.x, pixels, buffers().output + at);
    });
  }

  void backward(const Step&) override {
    each_group([this](std::int64_t at, std::int64_t pixels, const Rows& rows) {
      const std::int64_t size = pixels * row_;
      gather(buffers().input + at, pixels, rows.x);
      gather(buffers().output_gradient + at, pixels, rows.gradient);
      normalise(rows, size);
      gradient_terms(rows, size);
      window_sums(rows.terms, size, terms_.half, rows.scale);
      gradients_all(rows, size, terms_);
      scatter(rows.x, pixels, buffers().input_gradient + at);
    });
  }

 private:
  static constexpr std::int64_t row_count = 5;
  static constexpr std::int64_t usual_block = 16;
  static constexpr std::int64_t group_floats = 1024;  // five such rows fit in the L1 cache

  // Floats of one kind of row: a group, with half a window before and after it.
  std::int64_t rows_size() const {
    return formats::round_up(group_ * row_ + 2 * terms_.half, line_floats);
  }

  void normalise(const Rows& of, std::int64_t size) const {
    square_all(of, size);
    window_sums(of.terms, size, terms_.half, of.scale);
    raise_all(of, size, terms_);
  }

  // Calls body(offset of the first pixel in a tensor, number of pixels, the thread's rows).
  template <class Body>
  void each_group(const Body& body) const {
    on_threads(threads_, [&](unsigned thread) {
      const std::int64_t size = rows_size();
      float* start = reinterpret_cast<float*>(buffers().scratch) + thread * row_count * size;
      std::fill_n(start, row_count * size, 0.0F);
      start += terms_.half;
      const Rows mine{start, start + size, start + 2 * size, start + 3 * size, start + 4 * size};
      const Range range = share_of(batch_, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        for (std::int64_t pixel = 0; pixel < output().pixels(); pixel += group_) {
          body(image * output().elements() + pixel * output().block,
               std::min(group_, output().pixels() - pixel), mine);
        }
      }
    });
  }

  // Calls visit(offset in a tensor from the group's first pixel, offset in a row, number of values)
  // for each run of values that are contiguous in both.
  template <class Visit>
  void each_run(std::int64_t pixels, const Visit& visit) const {
    const std::int64_t width = output().block, plane = output().pixels() * width;
    for (std::int64_t block = 0; block < output().blocks(); ++block) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const std::int64_t from = block * plane + pixel * width, to = pixel * row_ + block * width;
        width == usual_block ? visit(from, to, std::integral_constant<std::int64_t, usual_block>())
                             : visit(from, to, width);
      }
    }
  }
  void gather(const float* from, std::int64_t pixels, float* to) const {
    each_run(pixels, [=](std::int64_t at, std::int64_t in_row, auto size) {
      std::memcpy(to + in_row, from + at, static_cast<std::size_t>(size) * sizeof(float));
    });
    for (std::int64_t pixel = 1; pixel <= pixels; ++pixel) {
      std::fill_n(to + pixel * row_ - 2 * terms_.half, 2 * terms_.half, 0.0F);
    }
  }
  void scatter(const float* from, std::int64_t pixels, float* to) const {
    each_run(pixels, [=](std::int64_t at, std::int64_t in_row, auto size) {
      std::memcpy(to + at, from + in_row, static_cast<std::size_t>(size) * sizeof(float));
    });
  }

  std::int64_t batch_;
  unsigned threads_;
  Terms terms_{};
  std::int64_t row_ = 0;    // floats from one pixel to the next
  std::int64_t group_ = 0;  // pixels at once
};

}  // namespace

std::unique_ptr<Layer> make_lrn_layer(const LayerSite& site) {
  return make_in_fp32<LrnLayer>(site);
}

}  // namespace feedrate::trainer::cpu
