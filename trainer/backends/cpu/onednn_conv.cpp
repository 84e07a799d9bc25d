#include "trainer/backends/cpu/onednn_conv.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <utility>

#include "trainer/ops/check.h"

namespace feedrate::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

constexpr std::size_t line = 64;  // bytes; every part of the scratch starts on one

std::size_t lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

constexpr auto f32 = memory::data_type::f32;

memory::desc values(std::int64_t batch, const Extent& extent, Tag tag, Type type = f32) {
  return {{batch, extent.channels, extent.height, extent.width}, type, tag};
}

memory::desc in_memory(std::int64_t batch, const Layout& layout) {
  const Tag tag = layout.block == 16  ? Tag::nChw16c
                  : layout.block == 8 ? Tag::nChw8c
                  : layout.block == 1 ? Tag::nchw
                                      : Tag::nhwc;
  return values(batch, layout.extent, tag);
}

// The layout of ours that is oneDNN's choice, or NCHW, into which the values are then reordered.
Layout nearest_layout(const memory::desc& chosen, std::int64_t batch, const Extent& extent) {
  for (const std::int64_t block : {std::int64_t{16}, std::int64_t{8}, extent.channels}) {
    const Layout layout{extent, block};
    if (chosen == in_memory(batch, layout)) return layout;
  }
  return {extent, 1};
}

// A primitive's argument: where it lives, and where the primitive wants it, the same memory or a
// copy in the scratch.
struct Argument {
  int name;
  memory home;
  memory wanted;
  dnnl::reorder before, after;  // into `wanted`, out of it; empty when they are the same
};

// One primitive, its arguments, and the scratch for copies and for itself.
class Call {
 public:
  Call() = default;
  template <class Descriptor>
  Call(const dnnl::primitive& primitive, const Descriptor& descriptor)
      : primitive_(primitive), own_scratch_(descriptor.scratchpad_desc(), engine(), nullptr) {}

  void reads(int name, const memory::desc& home, const memory::desc& wanted) {
    Argument& argument = add(name, home, wanted);
    if (home != wanted) argument.before = dnnl::reorder(argument.home, argument.wanted);
  }
  void writes(int name, const memory::desc& home, const memory::desc& wanted) {
    Argument& argument = add(name, home, wanted);
    if (home != wanted) argument.after = dnnl::reorder(argument.wanted, argument.home);
  }

  std::size_t scratch_bytes() const {
    std::size_t bytes = lines(own_scratch_.get_desc().get_size());
    for (const Argument& argument : arguments_) bytes += copy_bytes(argument);
    return bytes;
  }

  /// `homes` in the order in which the arguments were named.
  void bind(std::initializer_list<void*> homes, std::byte* scratch) {
    own_scratch_.set_data_handle(scratch);
    scratch += lines(own_scratch_.get_desc().get_size());
    execution_.clear();
    execution_.push_back({DNNL_ARG_SCRATCHPAD, own_scratch_.get()});
    auto home = homes.begin();
    for (Argument& argument : arguments_) {
      argument.home.set_data_handle(*home++);
      const bool copied = copy_bytes(argument) != 0;
      argument.wanted.set_data_handle(copied ? static_cast<void*>(scratch)
                                             : argument.home.get_data_handle());
      scratch += copy_bytes(argument);
      execution_.push_back({argument.name, argument.wanted.get()});
    }
  }

  void run(dnnl::stream& stream) {
    for (Argument& argument : arguments_) {
      if (argument.before) argument.before.execute(stream, argument.home, argument.wanted);
    }
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(execution_.size()),
                               execution_.data()),
        "oneDNN could not run a convolution");
    for (Argument& argument : arguments_) {
      if (argument.after) argument.after.execute(stream, argument.wanted, argument.home);
    }
    stream.wait();
  }

 private:
  Argument& add(int name, const memory::desc& home, const memory::desc& wanted) {
    arguments_.push_back(
        {name, memory(home, engine(), nullptr), memory(wanted, engine(), nullptr), {}, {}});
    return arguments_.back();
  }
  static std::size_t copy_bytes(const Argument& argument) {
    const bool copied = argument.before || argument.after;
    return copied ? lines(argument.wanted.get_desc().get_size()) : 0;
  }

  dnnl::primitive primitive_;
  memory own_scratch_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> execution_;
};

// What all three passes of a convolution are described by; layouts left to oneDNN. What goes into
// products is of the precision asked for, what comes out is summed, and kept, in fp32.
struct Geometry {
  memory::desc in, out, weights;                             // as factors
  memory::desc out_sum, in_gradient_sum, weights_sum, bias;  // as results
  memory::dims strides, pads;

  explicit Geometry(const LayerSite& site)
      : in(values(site.batch, site.input.extent, Tag::any, factor_type(site))),
        out(values(site.batch, site.node().extent, Tag::any, factor_type(site))),
        weights(canonical_weights(site, Tag::any, factor_type(site))),
        out_sum(values(site.batch, site.node().extent, Tag::any)),
        in_gradient_sum(values(site.batch, site.input.extent, Tag::any)),
        weights_sum(canonical_weights(site, Tag::any)),
        bias(bias_of(site)),
        strides(2, site.node().attributes.integer("stride")),
        pads(2, site.node().attributes.integer("pad")) {}

  static Type factor_type(const LayerSite& site) { return site.bf16 ? Type::bf16 : f32; }
  static memory::desc canonical_weights(const LayerSite& site, Tag tag, Type type = f32) {
    const std::int64_t kernel = site.node().attributes.integer("kernel");
    const std::int64_t groups = groups_of(site.node().attributes);
    const std::int64_t filters = site.node().extent.channels / groups;
    const std::int64_t channels = site.input.extent.channels / groups;
    if (groups == 1) return {{filters, channels, kernel, kernel}, type, tag};
    const Tag grouped = tag == Tag::oihw ? Tag::goihw : tag;
    return {{groups, filters, channels, kernel, kernel}, type, grouped};
  }
  // Empty, which oneDNN takes for none, where the convolution has none.
  static memory::desc bias_of(const LayerSite& site) {
    if (site.node().parameters.size() < 2) return {};
    return {{site.node().extent.channels}, f32, Tag::x};
  }
};

dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto direct = dnnl::algorithm::convolution_direct;

Forward::primitive_desc describe_forward(const LayerSite& site) {
  const Geometry g(site);
  return {{dnnl::prop_kind::forward_training, direct, g.in, g.weights, g.bias, g.out_sum, g.strides,
           g.pads, g.pads},
          own_scratchpad(),
          engine()};
}

BackwardWeights::primitive_desc describe_backward_weights(const LayerSite& site,
                                                          const Forward::primitive_desc& forward) {
  const Geometry g(site);
  return {{direct, g.in, g.weights_sum, g.bias, g.out, g.strides, g.pads, g.pads},
          own_scratchpad(),
          engine(),
          forward};
}

// Values in fp32 as factors of products: themselves, or a narrower copy that several products read.
class Factor {
 public:
  Factor() = default;
  Factor(const memory::desc& home, const memory::desc& wanted) : desc_(home) {
    if (home.data_type() == wanted.data_type()) return;
    desc_ = wanted;
    home_ = memory(home, engine(), nullptr);
    copy_ = memory(wanted, engine(), nullptr);
    narrow_ = dnnl::reorder(home_, copy_);
  }

  const memory::desc& desc() const { return desc_; }
  std::size_t copy_bytes() const { return narrow_ ? lines(desc_.get_size()) : 0; }
  /// Gives where the products find it.
  void* bind(const float* home, std::byte* copy) {
    float* values = const_cast<float*>(home);  // oneDNN's handles know no const
    if (!narrow_) return values;
    home_.set_data_handle(values);
    copy_.set_data_handle(copy);
    return copy;
  }
  void run(dnnl::stream& stream) {
    if (narrow_) narrow_.execute(stream, home_, copy_);
  }

 private:
  memory::desc desc_;
  memory home_, copy_;
  dnnl::reorder narrow_;
};

class OnednnConv final : public Layer {
 public:
  OnednnConv(const LayerSite& site, const Forward::primitive_desc& forward)
      : Layer(site, nearest_layout(forward.dst_desc(), site.batch, site.node().extent)),
        stream_(engine()),
        canonical_weights_(Geometry::canonical_weights(site, Tag::oihw)),
        input_learns_(site.input_learns),
        has_bias_(site.node().parameters.size() == 2) {
    const Geometry g(site);
    const BackwardWeights::primitive_desc weights = describe_backward_weights(site, forward);
    // Summed in fp32, which is how they are learned; the forward pass has its own copy when it
    // multiplies something narrower.
    own_weights_ = site.bf16 ? weights.diff_weights_desc() : forward.weights_desc();
    const memory::desc in = in_memory(site.batch, site.input);
    const memory::desc out = in_memory(site.batch, output());
    input_ = Factor(in, forward.src_desc());
    gradient_ = Factor(out, weights.diff_dst_desc());

    forward_ = Call(Forward(forward), forward);
    forward_.reads(DNNL_ARG_SRC, input_.desc(), forward.src_desc());
    forward_.reads(DNNL_ARG_WEIGHTS, own_weights_, forward.weights_desc());
    if (has_bias_) forward_.reads(DNNL_ARG_BIAS, g.bias, g.bias);
    forward_.writes(DNNL_ARG_DST, out, forward.dst_desc());

    backward_weights_ = Call(BackwardWeights(weights), weights);
    backward_weights_.reads(DNNL_ARG_SRC, input_.desc(), weights.src_desc());
    backward_weights_.reads(DNNL_ARG_DIFF_DST, gradient_.desc(), weights.diff_dst_desc());
    backward_weights_.writes(DNNL_ARG_DIFF_WEIGHTS, own_weights_, weights.diff_weights_desc());
    if (has_bias_) backward_weights_.writes(DNNL_ARG_DIFF_BIAS, g.bias, g.bias);
    if (!input_learns_) return;

    const BackwardData::primitive_desc data(
        {direct, g.in_gradient_sum, g.weights, g.out, g.strides, g.pads, g.pads}, own_scratchpad(),
        engine(), forward);
    backward_data_ = Call(BackwardData(data), data);
    backward_data_.reads(DNNL_ARG_DIFF_DST, gradient_.desc(), data.diff_dst_desc());
    backward_data_.reads(DNNL_ARG_WEIGHTS, own_weights_, data.weights_desc());
    backward_data_.writes(DNNL_ARG_DIFF_SRC, in, data.diff_src_desc());
  }

  std::size_t kept_bytes() const override { return input_.copy_bytes(); }
  std::size_t scratch_bytes() const override {
    std::size_t bytes = std::max(forward_.scratch_bytes(), backward_weights_.scratch_bytes());
    if (input_learns_) bytes = std::max(bytes, backward_data_.scratch_bytes());
    return gradient_.copy_bytes() + bytes;
  }

  void bind(const Buffers& buffers) override {
    Layer::bind(buffers);
    void* in = input_.bind(buffers.input, buffers.kept);
    void* gradient = gradient_.bind(buffers.output_gradient, buffers.scratch);
    std::byte* scratch = buffers.scratch + gradient_.copy_bytes();
    if (has_bias_) {
      forward_.bind({in, buffers.parameters[0], buffers.parameters[1], buffers.output}, scratch);
      backward_weights_.bind({in, gradient, buffers.gradients[0], buffers.gradients[1]}, scratch);
    } else {
      forward_.bind({in, buffers.parameters[0], buffers.output}, scratch);
      backward_weights_.bind({in, gradient, buffers.gradients[0]}, scratch);
    }
    if (!input_learns_) return;
    backward_data_.bind({gradient, buffers.parameters[0], buffers.input_gradient}, scratch);
  }

  void forward(const Pass&) override {
    input_.run(stream_);
    forward_.run(stream_);
  }
  void backward(const Pass&) override {
    gradient_.run(stream_);
    backward_weights_.run(stream_);
    if (input_learns_) backward_data_.run(stream_);
  }

  std::size_t own_size(std::size_t k) const override {
    return k == 0 ? own_weights_.get_size() / sizeof(float) : Layer::own_size(k);
  }
  void to_own(std::size_t k, std::span<const float> canonical, float* own) const override {
    if (k != 0) return Layer::to_own(k, canonical, own);
    copy(canonical_weights_, const_cast<float*>(canonical.data()), own_weights_, own);
  }
  void from_own(std::size_t k, const float* own, std::span<float> canonical) const override {
    if (k != 0) return Layer::from_own(k, own, canonical);
    copy(own_weights_, const_cast<float*>(own), canonical_weights_, canonical.data());
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
  memory::desc own_weights_, canonical_weights_;
  bool input_learns_, has_bias_;
  Factor input_, gradient_;
  Call forward_, backward_weights_, backward_data_;
};

}  // namespace

std::unique_ptr<Layer> make_onednn_conv(const LayerSite& site) {
  try {
    return std::make_unique<OnednnConv>(site, describe_forward(site));
  } catch (const dnnl::error& error) {
    throw Error(join("oneDNN cannot compute ", site.node().name, ": ", error.message));
  }
}

}  // namespace feedrate::cpu
