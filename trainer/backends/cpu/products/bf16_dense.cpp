#include "trainer/backends/cpu/products/bf16_dense.h"

#include <algorithm>

#include "trainer/backends/cpu/products/bf16_product.hpp"
#include "trainer/backends/cpu/products/dense_layer.h"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/values/arrays.h"

namespace feedrate::trainer::cpu {
namespace {

// A matrix as a factor of several products: the values themselves where they are bf16, else a
// rounded copy. With oneDNN's reorder in place of our own threads, LeNet's widest layer takes 1.6
// times as long forward.
class RoundedMatrix {
 public:
  RoundedMatrix(std::int64_t size, ValueType type, unsigned threads)
      : size_(size), is_wide_(type == ValueType::fp32), threads_(threads) {}

  std::size_t copy_bytes() const {
    return is_wide_ ? room_for(static_cast<std::size_t>(size_) * sizeof(Bf16)) : 0;
  }
  /// Returns the memory that the products read.
  void* bind(const void* home, std::byte* copy) {
    home_ = static_cast<const float*>(home);
    copy_ = reinterpret_cast<Bf16*>(copy);
    return is_wide_ ? copy : const_cast<void*>(home);  // oneDNN's handles are not const
  }
  void round() const {
    if (!is_wide_) return;
    on_shares(threads_, size_, line_floats, [this](const Range& range) {
      convert(home_ + range.begin, range.size(), copy_ + range.begin);
    });
  }

 private:
  std::int64_t size_;
  bool is_wide_;
  unsigned threads_;
  const float* home_ = nullptr;
  Bf16* copy_ = nullptr;
};

class Bf16Dense final : public DenseLayer {
 public:
  explicit Bf16Dense(const LayerSite& site)
      : DenseLayer(site),
        type_(site.type),
        input_learns_(site.input_learns),
        input_(batch() * inputs(), site.input_type, threads()),
        weights_(units() * inputs(), ValueType::fp32, threads()),
        gradient_(batch() * units(), type_, threads()) {
    const std::int64_t n = batch(), k = inputs(), u = units();
    const OmpThreads one_thread(1);
    each_share(u, [&](const Range& units) {
      const std::int64_t some = units.size(), first = units.begin;
      forward_.add({.a = matrix(n, k, k),
                    .b = transposed(matrix(some, k, k)),
                    .c = matrix(n, some, u, f32),
                    .a_first = 0,
                    .b_first = first * k,
                    .c_first = first});
      weight_gradients_.add({.a = transposed(matrix(n, some, u)),
                             .b = matrix(n, k, k),
                             .c = matrix(some, k, k, f32),
                             .a_first = first,
                             .b_first = 0,
                             .c_first = first * k});
    });
    if (!input_learns_) return;
    each_share(k, [&](const Range& inputs) {
      const std::int64_t some = inputs.size(), first = inputs.begin;
      input_gradients_.add({.a = matrix(n, u, u),
                            .b = matrix(u, some, k),
                            .c = matrix(n, some, k, onednn_type(site.input_type)),
                            .a_first = 0,
                            .b_first = first,
                            .c_first = first});
    });
  }

  // The rounded input and weights: each is rounded once in a step.
  std::size_t saved_bytes() const override { return input_.copy_bytes() + weights_.copy_bytes(); }
  std::size_t scratch_bytes() const override {
    const std::size_t products =
        std::max({forward_.scratch_bytes(), weight_gradients_.scratch_bytes(),
                  input_gradients_.scratch_bytes()});
    return gradient_.copy_bytes() + products_bytes() + products;
  }

  void bind(const Buffers& buffers) override {
    DenseLayer::bind(buffers);
    void* input = input_.bind(buffers.input, buffers.saved);
    void* weights = weights_.bind(buffers.parameters[0], buffers.saved + input_.copy_bytes());
    void* gradient = gradient_.bind(buffers.output_gradient, buffers.scratch);
    std::byte* scratch = buffers.scratch + gradient_.copy_bytes();
    products_ = reinterpret_cast<float*>(products_bytes() != 0 ? scratch : buffers.output);
    output_ = buffers.output;
    output_gradient_ = buffers.output_gradient;
    scratch += products_bytes();
    forward_.bind(input, weights, products_, scratch);
    weight_gradients_.bind(gradient, input, buffers.gradients[0], scratch);
    input_gradients_.bind(gradient, weights, buffers.input_gradient, scratch);
  }

  void forward(const Step& step) override {
    input_.round();
    weights_.round();
    forward_.run();
    with_type(type_, [&](auto value) {
      finish_forward(step, products_, reinterpret_cast<decltype(value)*>(output_));
    });
  }
  void backward(const Step&) override {
    with_type(type_, [&](auto value) {
      using T = decltype(value);
      begin_backward<T>(reinterpret_cast<T*>(output_gradient_), reinterpret_cast<T*>(output_));
    });
    gradient_.round();
    weight_gradients_.run();
    if (input_learns_) input_gradients_.run();
  }

 private:
  // Scratch for the products in fp32, since they are rounded only after the bias is added.
  std::size_t products_bytes() const {
    if (type_ == ValueType::fp32) return 0;
    return room_for(static_cast<std::size_t>(batch() * units()) * sizeof(float));
  }

  template <class Use>
  void each_share(std::int64_t size, const Use& use) const {
    constexpr std::int64_t grain = 64;
    for (unsigned number = 0; number < threads(); ++number) {
      const Range range = share_of(size, number, threads(), grain);
      if (range.size() > 0) use(range);
    }
  }

  ValueType type_;  // of the output
  bool input_learns_;
  float* products_ = nullptr;
  std::byte *output_ = nullptr, *output_gradient_ = nullptr;
  RoundedMatrix input_, weights_, gradient_;
  Bf16Product forward_, weight_gradients_, input_gradients_;
};

}  // namespace

std::unique_ptr<Layer> make_bf16_dense(const LayerSite& site) {
  return made_by_onednn(site, [&] { return std::make_unique<Bf16Dense>(site); });
}

}  // namespace feedrate::trainer::cpu
