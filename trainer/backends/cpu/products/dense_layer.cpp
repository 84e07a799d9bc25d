#include "trainer/backends/cpu/products/dense_layer.h"

#include <algorithm>

#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// A range of columns of a matrix.
struct Columns {
  std::int64_t rows, columns, stride;
};

template <class T>
FEEDRATE_VECTOR void add_bias(const Columns& c, const float* bias, bool with_relu,
                              const float* products, T* output) {
  for (std::int64_t row = 0; row < c.rows; ++row) {
    const float* from = products + row * c.stride;
    T* to = output + row * c.stride;
    for (std::int64_t i = 0; i < c.columns; ++i) {
      const float sum = from[i] + bias[i];
      to[i] = T(with_relu ? relu(sum) : sum);
    }
  }
}

template <class T>
FEEDRATE_VECTOR void sum_columns(const Columns& c, const T* values, float* sums) {
  for (std::int64_t i = 0; i < c.columns; ++i) sums[i] = 0;
  for (std::int64_t row = 0; row < c.rows; ++row) {
    for (std::int64_t i = 0; i < c.columns; ++i) sums[i] += values[row * c.stride + i];
  }
}

}  // namespace

DenseLayer::DenseLayer(const LayerSite& site)
    : LayerOf(site, {site.node().extent, 1}),
      input_(site.input),
      batch_(site.batch),
      units_(site.node().extent.channels),
      relu_follows_(site.relu_follows),
      threads_(site.threads) {}

void DenseLayer::forward(const Step& step) {
  run_shared({.m = batch_,
              .n = units_,
              .k = inputs(),
              .a = {buffers().input, inputs()},
              .b = {buffers().parameters[0], inputs(), true},
              .keep = 0,
              .c = buffers().output,
              .stride = units_},
             threads_);
  finish_forward(step, buffers().output, buffers().output);
}

void DenseLayer::backward(const Step&) {
  begin_backward<float>(buffers().output_gradient, buffers().output);
  const Matrix gradient = {buffers().output_gradient, units_};
  run_shared({.m = units_,
              .n = inputs(),
              .k = batch_,
              .a = {gradient.data, units_, true},
              .b = {buffers().input, inputs()},
              .keep = 0,
              .c = buffers().gradients[0],
              .stride = inputs()},
             threads_);
  if (buffers().input_gradient == nullptr) return;
  run_shared({.m = batch_,
              .n = inputs(),
              .k = units_,
              .a = gradient,
              .b = {buffers().parameters[0], inputs()},
              .keep = 0,
              .c = buffers().input_gradient,
              .stride = inputs()},
             threads_);
}

template <class T>
void DenseLayer::finish_forward(const Step& step, const float* products, T* output) const {
  on_shares(threads_, units_, line_floats, [&](const Range& range) {
    add_bias({batch_, range.size(), units_}, buffers().parameters[1] + range.begin,
             relu_follows_ && !step.relu_separate, products + range.begin, output + range.begin);
  });
}
template void DenseLayer::finish_forward(const Step&, const float*, float*) const;
template void DenseLayer::finish_forward(const Step&, const float*, Bf16*) const;

template <class T>
void DenseLayer::begin_backward(T* output_gradient, const T* output) const {
  on_shares(threads_, units_, line_floats, [&](const Range& range) {
    T* gradients = output_gradient + range.begin;
    for (std::int64_t image = 0; relu_follows_ && image < batch_; ++image) {
      T* row = gradients + image * units_;
      relu_gradients<T>(row, output + range.begin + image * units_, range.size(), row);
    }
    sum_columns<T>({batch_, range.size(), units_}, gradients, buffers().gradients[1] + range.begin);
  });
}
template void DenseLayer::begin_backward(float*, const float*) const;
template void DenseLayer::begin_backward(Bf16*, const Bf16*) const;

std::size_t DenseLayer::stored_size(std::size_t k) const {
  return k == 0 ? static_cast<std::size_t>(units_ * inputs()) : Layer::stored_size(k);
}

template <class Use>
void DenseLayer::each_weight(const Use& use) const {
  const Extent& extent = input_.extent;
  for (std::int64_t unit = 0; unit < units_; ++unit) {
    for (std::int64_t channel = 0; channel < extent.channels; ++channel) {
      for (std::int64_t pixel = 0; pixel < input_.pixels(); ++pixel) {
        use(unit * inputs() + input_.offset(channel, pixel),
            unit * extent.elements() + channel * input_.pixels() + pixel);
      }
    }
  }
}

void DenseLayer::to_stored(std::size_t k, std::span<const float> canonical, float* stored) const {
  if (k != 0) return Layer::to_stored(k, canonical, stored);
  std::fill_n(stored, stored_size(0), 0.0F);
  each_weight([&](std::int64_t in_layer, std::int64_t in_canonical) {
    stored[in_layer] = canonical[static_cast<std::size_t>(in_canonical)];
  });
}

void DenseLayer::from_stored(std::size_t k, const float* stored, std::span<float> canonical) const {
  if (k != 0) return Layer::from_stored(k, stored, canonical);
  each_weight([&](std::int64_t in_layer, std::int64_t in_canonical) {
    canonical[static_cast<std::size_t>(in_canonical)] = stored[in_layer];
  });
}

}  // namespace feedrate::trainer::cpu
