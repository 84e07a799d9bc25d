#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/backends/cpu/values/relayout.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

// relu() of elementwise.h on vectors. The three arrays may be the same memory.
template <class T, bool then_relu>
FEEDRATE_VECTOR void add_all(const T* a, const T* b, std::int64_t size, T* out) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats sum, other;
    load(a + i, sum);
    load(b + i, other);
    sum += other;
    if (then_relu) sum = sum < 0.0F ? decltype(sum){} : sum;
    store(sum, out + i);
  });
}

template <class T>
FEEDRATE_VECTOR void relu_gradients_twice(const T* gradient, const T* output, std::int64_t size,
                                          T* to, T* other) {
  for_lanes(size, [&](std::int64_t i, auto width) FEEDRATE_INLINE {
    typename VectorOf<width>::Floats x, mine;
    load(output + i, x);
    load(gradient + i, mine);
    mine = x > 0.0F ? mine : decltype(x){};
    store(mine, to + i);
    store(mine, other + i);
  });
}

// The sum has the layout of the first input; the second input is converted to it where it differs.
template <class T>
class AddLayer final : public LayerOf<T> {
 public:
  explicit AddLayer(const LayerSite& site)
      : LayerOf<T>(site, site.input),
        other_(site.inputs[1]),
        batch_(site.batch),
        relu_follows_(site.relu_follows && other_ == site.input),
        threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))) {}

  bool does_relu() const override { return relu_follows_; }

  std::size_t scratch_bytes() const override {
    return same_layout() ? 0 : static_cast<std::size_t>(size() * threads_) * sizeof(T);
  }

  void forward(const Step& step) override {
    const bool with_relu = relu_follows_ && !step.relu_separate;
    on_threads(threads_, [&](unsigned thread) {
      T* moved = reinterpret_cast<T*>(buffers().scratch) + thread * size();
      const Range range = share_of(batch_, thread, threads_);
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        const T* b = buffers().inputs[1] + image * other_.elements();
        if (!same_layout()) relayout(b, other_, moved, output());
        const T* a = buffers().input + image * size();
        T* out = buffers().output + image * size();
        with_relu ? add_all<T, true>(a, b, size(), out)
                  : add_all<T, false>(a, same_layout() ? b : moved, size(), out);
      }
    });
  }

  void backward(const Step&) override {
    on_shares(threads_, batch_, 1, [this](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        if (relu_follows_) {
          through_relu(image * size());
          continue;
        }
        const T* gradient = buffers().output_gradient + image * size();
        T* to = buffers().input_gradient;
        if (to != nullptr && to != buffers().output_gradient) {
          std::copy_n(gradient, size(), to + image * size());
        }
        T* other = buffers().input_gradients[1];
        if (other != nullptr && other != buffers().output_gradient) {
          relayout(gradient, output(), other + image * other_.elements(), other_);
        }
      }
    });
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;

  // The gradients of one image, at the same offset in both inputs.
  void through_relu(std::int64_t at) const {
    const T *gradient = buffers().output_gradient + at, *out = buffers().output + at;
    T *to = buffers().input_gradients[0], *other = buffers().input_gradients[1];
    if (to != nullptr && other != nullptr && to != other) {
      relu_gradients_twice(gradient, out, size(), to + at, other + at);
    } else if (to != nullptr || other != nullptr) {
      relu_gradients(gradient, out, size(), (to != nullptr ? to : other) + at);
    }
  }

  bool same_layout() const { return other_ == output(); }
  std::int64_t size() const { return output().elements(); }

  Layout other_;
  std::int64_t batch_;
  bool relu_follows_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_add_layer(const LayerSite& site) { return make_typed<AddLayer>(site); }

}  // namespace feedrate::trainer::cpu
