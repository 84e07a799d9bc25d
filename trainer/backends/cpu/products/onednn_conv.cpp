#include "trainer/backends/cpu/products/onednn_conv.h"

#include <algorithm>
#include <dnnl.hpp>

#include "trainer/backends/cpu/products/onednn_call.hpp"
#include "trainer/backends/cpu/products/onednn_geometry.hpp"
#include "trainer/backends/cpu/products/weight_gradients.hpp"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

class OnednnConv final : public Layer {
 public:
  OnednnConv(const LayerSite& site, const Forward::primitive_desc& forward)
      : Layer(site, nearest_layout(forward.dst_desc(), site.batch, site.node().extent)),
        stream_(engine()),
        canonical_weights_(
            Geometry::canonical_weights(site, Tag::oihw, f32, output().extent.channels)),
        input_learns_(site.input_learns),
        has_bias_(site.node().parameters.size() == 2) {
    const Geometry g(site);
    const BackwardWeights::primitive_desc weights = describe_backward_weights(site, Part(site));
    // Weights are stored in fp32; a forward pass in bf16 makes its own copy.
    const memory::desc in = in_memory(site.batch, site.input, onednn_type(site.input_type));
    const memory::desc out = in_memory(site.batch, output(), onednn_type(site.type));
    input_ = Factor(in, forward.src_desc());
    gradient_ = Factor(out, weights.diff_dst_desc());
    stored_weights_ = site.bf16 ? weights.diff_weights_desc() : forward.weights_desc();
    weight_gradients_ = WeightGradients(site, {.input = input_.desc(),
                                               .gradient = gradient_.desc(),
                                               .weights = stored_weights_,
                                               .bias = g.bias});

    forward_ = Call(Forward(forward), forward);
    forward_.reads(DNNL_ARG_SRC, input_.desc(), forward.src_desc());
    forward_.reads(DNNL_ARG_WEIGHTS, stored_weights_, forward.weights_desc());
    if (has_bias_) forward_.reads(DNNL_ARG_BIAS, g.bias, g.bias);
    forward_.writes(DNNL_ARG_DST, out, forward.dst_desc());

    if (!input_learns_) return;

    const auto data =
        describe_backward<BackwardData>(own_scratchpad(), forward, direct, g.in_gradient_sum,
                                        g.weights, g.out, g.strides, g.pads, g.pads);
    backward_data_ = Call(BackwardData(data), data);
    backward_data_.reads(DNNL_ARG_DIFF_DST, gradient_.desc(), data.diff_dst_desc());
    backward_data_.reads(DNNL_ARG_WEIGHTS, stored_weights_, data.weights_desc());
    backward_data_.writes(DNNL_ARG_DIFF_SRC, in, data.diff_src_desc());
  }

  std::size_t saved_bytes() const override { return input_.copy_bytes(); }
  std::size_t scratch_bytes() const override {
    std::size_t bytes = std::max(forward_.scratch_bytes(), weight_gradients_.scratch_bytes());
    if (input_learns_) bytes = std::max(bytes, backward_data_.scratch_bytes());
    return gradient_.copy_bytes() + bytes;
  }

  void bind(const Buffers& buffers) override {
    void* in = input_.bind(buffers.input, buffers.saved);
    void* gradient = gradient_.bind(buffers.output_gradient, buffers.scratch);
    std::byte* scratch = buffers.scratch + gradient_.copy_bytes();
    std::vector<void*> forward{in, buffers.parameters[0]};
    if (has_bias_) forward.push_back(buffers.parameters[1]);
    forward.push_back(buffers.output);
    forward_.bind(forward, scratch);
    weight_gradients_.bind(in, gradient, buffers, scratch);
    if (!input_learns_) return;
    backward_data_.bind({gradient, buffers.parameters[0], buffers.input_gradient}, scratch);
  }

  // A relu that follows is a layer of its own, because oneDNN's fused relu turns NaN into 0.
  void forward(const Step&) override {
    input_.run(stream_);
    forward_.run(stream_);
  }
  void backward(const Step&) override {
    gradient_.run(stream_);
    weight_gradients_.run();
    if (input_learns_) backward_data_.run(stream_);
  }

  std::size_t stored_size(std::size_t k) const override {
    return k == 0 ? stored_weights_.get_size() / sizeof(float) : Layer::stored_size(k);
  }
  void to_stored(std::size_t k, std::span<const float> canonical, float* stored) const override {
    if (k != 0) return Layer::to_stored(k, canonical, stored);
    copy(canonical_weights_, const_cast<float*>(canonical.data()), stored_weights_, stored);
  }
  void from_stored(std::size_t k, const float* stored, std::span<float> canonical) const override {
    if (k != 0) return Layer::from_stored(k, stored, canonical);
    copy(stored_weights_, const_cast<float*>(stored), canonical_weights_, canonical.data());
  }

 private:
  static void copy(const memory::desc& from_layout, float* from, const memory::desc& to_layout,
                   float* to) {
    memory source(from_layout, engine(), from);
    memory target(to_layout, engine(), to);
    dnnl::stream stream(engine());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
  }

  dnnl::stream stream_;
  memory::desc stored_weights_, canonical_weights_;
  bool input_learns_, has_bias_;
  Factor input_, gradient_;
  WeightGradients weight_gradients_;
  Call forward_, backward_data_;
};

}  // namespace

std::unique_ptr<Layer> make_onednn_conv(const LayerSite& site) {
  return made_by_onednn(
      site, [&] { return std::make_unique<OnednnConv>(site, describe_forward(site, Part(site))); });
}

}  // namespace feedrate::trainer::cpu
