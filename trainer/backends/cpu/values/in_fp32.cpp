#include "trainer/backends/cpu/values/in_fp32.h"

#include <utility>

#include "formats/base/bytes.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {
namespace {

// The fp32 copies lie in the scratch: backward widens what it needs again, which is cheaper than
// keeping it.
class WidenedLayer final : public Layer {
 public:
  WidenedLayer(const LayerSite& site, std::unique_ptr<Layer> layer)
      : Layer(site, layer->output()),
        layer_(std::move(layer)),
        input_is_narrow_(site.input_type == ValueType::bf16),
        output_is_narrow_(site.type == ValueType::bf16),
        reads_input_(site.node().op->traits().backward_reads_input),
        reads_output_(site.node().op->traits().backward_reads_output || layer_->does_relu()),
        threads_(site.threads) {
    for (const Layout& input : site.inputs) sizes_.push_back(input.elements() * site.batch);
    output_size_ = output().elements() * site.batch;
  }

  std::size_t saved_bytes() const override { return layer_->saved_bytes(); }
  std::size_t scratch_bytes() const override {
    std::size_t bytes = layer_->scratch_bytes();
    for (const std::int64_t size : sizes_) bytes += input_is_narrow_ ? 2 * room(size) : 0;
    return bytes + (output_is_narrow_ ? 2 * room(output_size_) : 0);
  }
  bool does_relu() const override { return layer_->does_relu(); }
  bool does_relu_before() const override { return layer_->does_relu_before(); }
  std::size_t stored_size(std::size_t k) const override { return layer_->stored_size(k); }
  void to_stored(std::size_t k, std::span<const float> canonical, float* stored) const override {
    layer_->to_stored(k, canonical, stored);
  }
  void from_stored(std::size_t k, const float* stored, std::span<float> canonical) const override {
    layer_->from_stored(k, stored, canonical);
  }

  void bind(const Buffers& buffers) override {
    narrow_ = BuffersOf<Bf16>(buffers);
    wide_ = BuffersOf<float>(buffers);
    const auto take = [this](std::int64_t size) {
      auto* place = reinterpret_cast<float*>(wide_.scratch);
      wide_.scratch += room(size);
      return place;
    };
    for (std::size_t k = 0; input_is_narrow_ && k < sizes_.size(); ++k) {
      wide_.inputs[k] = take(sizes_[k]);
      float* gradient = take(sizes_[k]);
      if (wide_.input_gradients[k] != nullptr) wide_.input_gradients[k] = gradient;
    }
    if (output_is_narrow_) {
      wide_.output = take(output_size_);
      float* gradient = take(output_size_);
      if (wide_.output_gradient != nullptr) wide_.output_gradient = gradient;
    }
    wide_.input = wide_.inputs[0];
    wide_.input_gradient = wide_.input_gradients[0];
    layer_->bind(Buffers(wide_));
  }

  void forward(const Step& step) override {
    widen_inputs();
    layer_->forward(step);
    if (output_is_narrow_) run(wide_.output, output_size_, narrow_.output);
  }

  void backward(const Step& step) override {
    if (reads_input_) widen_inputs();
    if (output_is_narrow_) {
      if (reads_output_) run(narrow_.output, output_size_, wide_.output);
      run(narrow_.output_gradient, output_size_, wide_.output_gradient);
    }
    layer_->backward(step);
    for (std::size_t k = 0; input_is_narrow_ && k < sizes_.size(); ++k) {
      if (narrow_.input_gradients[k] == nullptr) continue;
      run(wide_.input_gradients[k], sizes_[k], narrow_.input_gradients[k]);
    }
  }

 private:
  static std::size_t room(std::int64_t size) {
    return formats::round_up(static_cast<std::size_t>(size) * sizeof(float), formats::cache_line);
  }
  template <class From, class To>
  void run(const From* from, std::int64_t size, To* to) const {
    on_shares(threads_, size, line_floats, [=](const Range& range) {
      convert(from + range.begin, range.size(), to + range.begin);
    });
  }
  void widen_inputs() const {
    for (std::size_t k = 0; input_is_narrow_ && k < sizes_.size(); ++k) {
      run(narrow_.inputs[k], sizes_[k], const_cast<float*>(wide_.inputs[k]));
    }
  }

  std::unique_ptr<Layer> layer_;
  bool input_is_narrow_, output_is_narrow_, reads_input_, reads_output_;
  unsigned threads_;
  std::vector<std::int64_t> sizes_;  // of the inputs of a batch
  std::int64_t output_size_ = 0;
  BuffersOf<Bf16> narrow_;
  BuffersOf<float> wide_;
};

}  // namespace

std::unique_ptr<Layer> widened(const LayerSite& site, std::unique_ptr<Layer> layer) {
  return std::make_unique<WidenedLayer>(site, std::move(layer));
}

}  // namespace feedrate::trainer::cpu
