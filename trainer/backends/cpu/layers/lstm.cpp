#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/in_fp32.h"
#include "trainer/ops/lstm_cell.h"

namespace feedrate::trainer::cpu {
namespace {

// All values are ordered by image, then by row, so that a thread computes its images from the first
// row to the last without waiting for other threads.
class LstmLayer final : public LayerOf<float> {
 public:
  explicit LstmLayer(const LayerSite& site)
      : LayerOf(site, {site.node().extent, 1}),
        input_(site.input),
        batch_(site.batch),
        rows_(input_.extent.height),
        row_(input_.extent.channels * input_.extent.width),
        units_(site.node().extent.channels),
        gates_(4 * units_),
        threads_(site.threads) {}

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * rows_ * (row_ + gates_ + 2 * units_)) * sizeof(float);
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(batch_ * (rows_ * row_ + 2 * units_)) * sizeof(float);
  }
  void bind(const Buffers& buffers) override {
    LayerOf::bind(buffers);
    const std::int64_t all = batch_ * rows_;
    inputs_ = reinterpret_cast<float*>(buffers.saved);
    sums_ = inputs_ + all * row_;
    cells_ = sums_ + all * gates_;
    before_ = cells_ + all * units_;
    input_gradients_ = reinterpret_cast<float*>(buffers.scratch);
    hidden_gradients_ = input_gradients_ + all * row_;
    cell_gradients_ = hidden_gradients_ + batch_ * units_;
  }

  void forward(const Step&) override {
    on_shares(threads_, batch_, 1, [&](const Range& images) {
      each_value(images, [&](std::int64_t mine, std::int64_t theirs) {
        inputs_[mine] = buffers().input[theirs];
      });
      for (std::int64_t i = images.begin * rows_; i < images.end * rows_; ++i) {
        std::copy_n(buffers().parameters[2], gates_, sums_ + i * gates_);
      }
      run({.m = images.size() * rows_,
           .n = gates_,
           .k = row_,
           .a = {inputs_ + images.begin * rows_ * row_, row_},
           .b = {buffers().parameters[0], row_, true},
           .keep = 1,
           .c = sums_ + images.begin * rows_ * gates_,
           .stride = gates_});
      for (std::int64_t row = 0; row < rows_; ++row) forward_row(images, row);
    });
  }

  void backward(const Step&) override {
    on_shares(threads_, batch_, 1, [&](const Range& images) {
      const std::int64_t first = images.begin * units_;
      std::copy_n(buffers().output_gradient + first, images.size() * units_,
                  hidden_gradients_ + first);
      std::fill_n(cell_gradients_ + first, images.size() * units_, 0.0F);
      for (std::int64_t row = rows_; row-- > 0;) backward_row(images, row);
      if (buffers().input_gradient != nullptr) backward_input(images);
    });
    const std::int64_t all = batch_ * rows_;
    const Matrix gradients{sums_, gates_, true};
    run_shared({.m = gates_,
                .n = row_,
                .k = all,
                .a = gradients,
                .b = {inputs_, row_},
                .keep = 0,
                .c = buffers().gradients[0],
                .stride = row_},
               threads_);
    run_shared({.m = gates_,
                .n = units_,
                .k = all,
                .a = gradients,
                .b = {before_, units_},
                .keep = 0,
                .c = buffers().gradients[1],
                .stride = units_},
               threads_);
    on_shares(threads_, gates_, line_floats, [&](const Range& range) {
      float* sums = buffers().gradients[2];
      std::fill(sums + range.begin, sums + range.end, 0.0F);
      for (std::int64_t i = 0; i < all; ++i) {
        for (std::int64_t k = range.begin; k < range.end; ++k) sums[k] += sums_[i * gates_ + k];
      }
    });
  }

 private:
  // Calls use(index in `inputs_`, index in the input) for every value of the images.
  template <class Use>
  void each_value(const Range& images, const Use& use) const {
    const std::int64_t width = input_.extent.width;
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::int64_t channel = 0; channel < input_.extent.channels; ++channel) {
          for (std::int64_t x = 0; x < width; ++x) {
            use((image * rows_ + row) * row_ + channel * width + x,
                image * input_.elements() + input_.offset(channel, row * width + x));
          }
        }
      }
    }
  }

  void forward_row(const Range& images, std::int64_t row) {
    const std::int64_t first = images.begin * rows_ + row;
    if (row > 0) {
      run({.m = images.size(),
           .n = gates_,
           .k = units_,
           .a = {before_ + first * units_, rows_ * units_},
           .b = {buffers().parameters[1], units_, true},
           .keep = 1,
           .c = sums_ + first * gates_,
           .stride = rows_ * gates_});
    }
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      const std::int64_t at = image * rows_ + row;
      float* sums = sums_ + at * gates_;
      float* hidden =
          row + 1 < rows_ ? before_ + (at + 1) * units_ : buffers().output + image * units_;
      if (row == 0) std::fill_n(before_ + at * units_, units_, 0.0F);
      for (std::int64_t k = 0; k < 2 * units_; ++k) sums[k] = sigmoid(std::exp(-sums[k]));
      for (std::int64_t k = 2 * units_; k < 3 * units_; ++k) sums[k] = std::tanh(sums[k]);
      for (std::int64_t k = 3 * units_; k < gates_; ++k) sums[k] = sigmoid(std::exp(-sums[k]));
      for (std::int64_t unit = 0; unit < units_; ++unit) {
        const LstmGates gates = gates_of(sums, unit);
        const float cell = lstm_cell(gates, cell_before(at, row, unit));
        cells_[at * units_ + unit] = cell;
        hidden[unit] = gates.out * std::tanh(cell);
      }
    }
  }

  // Replaces the gates by the gradients of their sums.
  void backward_row(const Range& images, std::int64_t row) {
    const std::int64_t first = images.begin * rows_ + row;
    for (std::int64_t image = images.begin; image < images.end; ++image) {
      const std::int64_t at = image * rows_ + row;
      float* sums = sums_ + at * gates_;
      for (std::int64_t unit = 0; unit < units_; ++unit) {
        float& cell_gradient = cell_gradients_[image * units_ + unit];
        const LstmGradients found = lstm_gradients(
            gates_of(sums, unit), cell_before(at, row, unit), std::tanh(cells_[at * units_ + unit]),
            hidden_gradients_[image * units_ + unit], cell_gradient);
        sums[unit] = found.sums.in;
        sums[units_ + unit] = found.sums.forget;
        sums[2 * units_ + unit] = found.sums.cell;
        sums[3 * units_ + unit] = found.sums.out;
        cell_gradient = found.before;
      }
    }
    if (row == 0) return;
    run({.m = images.size(),
         .n = units_,
         .k = gates_,
         .a = {sums_ + first * gates_, rows_ * gates_},
         .b = {buffers().parameters[1], units_},
         .keep = 0,
         .c = hidden_gradients_ + images.begin * units_,
         .stride = units_});
  }

  void backward_input(const Range& images) {
    run({.m = images.size() * rows_,
         .n = row_,
         .k = gates_,
         .a = {sums_ + images.begin * rows_ * gates_, gates_},
         .b = {buffers().parameters[0], row_},
         .keep = 0,
         .c = input_gradients_ + images.begin * rows_ * row_,
         .stride = row_});
    float* to = buffers().input_gradient;
    std::fill_n(to + images.begin * input_.elements(), images.size() * input_.elements(), 0.0F);
    each_value(images, [&](std::int64_t mine, std::int64_t theirs) {
      to[theirs] = input_gradients_[mine];
    });
  }

  LstmGates gates_of(const float* sums, std::int64_t unit) const {
    return {sums[unit], sums[units_ + unit], sums[2 * units_ + unit], sums[3 * units_ + unit]};
  }
  float cell_before(std::int64_t at, std::int64_t row, std::int64_t unit) const {
    return row == 0 ? 0.0F : cells_[(at - 1) * units_ + unit];
  }

  Layout input_;
  std::int64_t batch_, rows_, row_, units_, gates_;
  unsigned threads_;
  float* inputs_ = nullptr;  // [image][row][value]
  float* sums_ = nullptr;    // [image][row][gate]: gates, then the gradients of their sums
  float* cells_ = nullptr;   // [image][row][unit]
  float* before_ = nullptr;  // the same: the hidden state before the row
  float* input_gradients_ = nullptr;
  float* hidden_gradients_ = nullptr;  // [image][unit]
  float* cell_gradients_ = nullptr;
};

}  // namespace

std::unique_ptr<Layer> make_lstm_layer(const LayerSite& site) {
  return make_in_fp32<LstmLayer>(site);
}

}  // namespace feedrate::trainer::cpu
