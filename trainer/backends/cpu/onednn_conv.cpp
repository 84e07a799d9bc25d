#include "trainer/backends/cpu/onednn_conv.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <utility>

#include "trainer/backends/cpu/add_values.h"
#include "trainer/backends/cpu/omp_threads.h"
#include "trainer/backends/cpu/onednn_call.hpp"
#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/check.h"

namespace feedrate::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

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

// How much of a convolution.
struct Part {
  std::int64_t images, filters;
  explicit Part(const LayerSite& site) : images(site.batch), filters(site.node().extent.channels) {}
  Part(const Range& of_images, const Range& of_filters)
      : images(of_images.size()), filters(of_filters.size()) {}
};

// What all three passes of a convolution are described by; layouts left to oneDNN. What goes into
// products is of the precision asked for, what comes out is summed, and kept, in fp32.
struct Geometry {
  memory::desc in, out, weights;                             // as factors
  memory::desc out_sum, in_gradient_sum, weights_sum, bias;  // as results
  memory::dims strides, pads;

  explicit Geometry(const LayerSite& site) : Geometry(site, Part(site)) {}
  Geometry(const LayerSite& site, const Part& part)
      : in(values(part.images, site.input.extent, Tag::any, factor_type(site))),
        out(outputs(site, part, factor_type(site))),
        weights(canonical_weights(site, Tag::any, factor_type(site), part.filters)),
        out_sum(outputs(site, part, f32)),
        in_gradient_sum(values(part.images, site.input.extent, Tag::any)),
        weights_sum(canonical_weights(site, Tag::any, f32, part.filters)),
        bias(bias_of(site, part.filters)),
        strides(2, site.node().attributes.integer("stride")),
        pads(2, site.node().attributes.integer("pad")) {}

  static Type factor_type(const LayerSite& site) { return site.bf16 ? Type::bf16 : f32; }
  static memory::desc outputs(const LayerSite& site, const Part& part, Type type) {
    Extent extent = site.node().extent;
    extent.channels = part.filters;
    return values(part.images, extent, Tag::any, type);
  }
  static memory::desc canonical_weights(const LayerSite& site, Tag tag, Type type,
                                        std::int64_t all_filters) {
    const std::int64_t kernel = site.node().attributes.integer("kernel");
    const std::int64_t groups = groups_of(site.node().attributes);
    const std::int64_t filters = all_filters / groups;
    const std::int64_t channels = site.input.extent.channels / groups;
    if (groups == 1) return {{filters, channels, kernel, kernel}, type, tag};
    const Tag grouped = tag == Tag::oihw ? Tag::goihw : tag;
    return {{groups, filters, channels, kernel, kernel}, type, grouped};
  }
  // Empty, which oneDNN takes for none, where the convolution has none.
  static memory::desc bias_of(const LayerSite& site, std::int64_t filters) {
    if (site.node().parameters.size() < 2) return {};
    return {{filters}, f32, Tag::x};
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

Forward::primitive_desc describe_forward(const LayerSite& site, const Part& part) {
  const Geometry g(site, part);
  return {{dnnl::prop_kind::forward_training, direct, g.in, g.weights, g.bias, g.out_sum, g.strides,
           g.pads, g.pads},
          own_scratchpad(),
          engine()};
}

BackwardWeights::primitive_desc describe_backward_weights(const LayerSite& site, const Part& part) {
  const Geometry g(site, part);
  return {{direct, g.in, g.weights_sum, g.bias, g.out, g.strides, g.pads, g.pads},
          own_scratchpad(),
          engine(),
          describe_forward(site, part)};
}

// In bf16 oneDNN's own threads wait for one another by spinning at every turn: where a neighbour
// keeps one of them from its core, what takes 7 ms takes 400. So there each is alone with filters
// of its own, or, where a filter has fewer weights than values, with images of its own, whose sums
// are then added up.
enum class Sharing { onednns, filters, images };

Sharing sharing(const LayerSite& site, const memory::desc& weights) {
  constexpr std::int64_t block = 16, fewest = 32;  // filters: of oneDNN's, of a thread
  if (!site.bf16 || site.threads == 1) return Sharing::onednns;
  const auto& strides = weights.data.format_desc.blocking.strides;
  const bool filters_outermost =
      strides[0] == *std::max_element(strides, strides + weights.data.ndims);
  const memory::dims dims = weights.dims();  // with groups these come first
  const Extent& out = site.node().extent;
  if (dims.size() == 4 && filters_outermost && dims[0] % block == 0 &&
      dims[0] >= fewest * site.threads &&
      site.batch * out.height * out.width <= dims[1] * dims[2] * dims[3]) {
    return Sharing::filters;
  }
  return site.batch >= site.threads ? Sharing::images : Sharing::onednns;
}

// Of the outermost dimension; where it is blocked, `range` begins with a block.
memory::desc part_of(const memory::desc& all, const Range& range) {
  memory::dims dims = all.dims();
  dims[0] = range.size();
  return all.submemory_desc(dims, memory::dims(dims.size(), 0));
}

void* part_at(const memory::desc& all, const Range& range, void* start) {
  const std::size_t bytes = all.get_size() / static_cast<std::size_t>(all.data.padded_dims[0]);
  return static_cast<std::byte*>(start) + static_cast<std::size_t>(range.begin) * bytes;
}

memory::desc channels_of(const memory::desc& all, const Range& range) {
  memory::dims dims = all.dims();
  dims[1] = range.size();
  return all.submemory_desc(dims, {0, range.begin, 0, 0});
}

// The gradients of weights and bias.
class WeightGradients {
 public:
  // Where they come from and how they are written.
  struct Layouts {
    memory::desc input, gradient;  // as factors
    memory::desc output;           // the gradient in fp32
    memory::desc weights, bias;
  };

  WeightGradients() = default;
  WeightGradients(const LayerSite& site, const Layouts& layouts)
      : sharing_(sharing(site, layouts.weights)), layouts_(layouts) {
    const unsigned count = sharing_ == Sharing::onednns ? 1 : site.threads;
    const OmpThreads omp(sharing_ == Sharing::onednns ? site.threads : 1);
    for (unsigned number = 0; number < count; ++number) shares_.push_back(share(site, number));
  }

  std::size_t scratch_bytes() const {
    std::size_t bytes = 0;
    for (const Share& share : shares_) bytes += share.call.scratch_bytes() + sums_bytes();
    return bytes;
  }

  // As scratch, memory that starts on a line.
  void bind(void* input, void* gradient, const Buffers& buffers, std::byte* scratch) {
    float* weights = buffers.gradients[0];
    float* bias = has_bias() ? buffers.gradients[1] : nullptr;
    for (Share& share : shares_) {
      share.weights = weights, share.bias = bias;
      if (sharing_ == Sharing::filters) {
        share.weights = static_cast<float*>(part_at(layouts_.weights, share.filters, weights));
        if (has_bias()) share.bias = bias + share.filters.begin;
        auto* whole = const_cast<float*>(buffers.output_gradient);
        share.call.bind({input, whole, share.weights, share.bias}, scratch);
      } else {
        if (&share != &shares_.front()) {
          share.weights = reinterpret_cast<float*>(scratch);
          share.bias = reinterpret_cast<float*>(scratch + lines(layouts_.weights.get_size()));
        }
        share.call.bind(
            {part_at(layouts_.input, share.images, input),
             part_at(layouts_.gradient, share.images, gradient), share.weights, share.bias},
            scratch + sums_bytes());
      }
      scratch += share.call.scratch_bytes() + sums_bytes();
    }
  }

  void run() {
    const auto count = static_cast<unsigned>(shares_.size());
    if (count == 1) return shares_[0].call.run(shares_[0].stream);
    on_threads(count, [&](unsigned number) { shares_[number].call.run(shares_[number].stream); });
    if (sharing_ == Sharing::filters) return;
    add_up(&Share::weights, layouts_.weights);
    if (has_bias()) add_up(&Share::bias, layouts_.bias);
  }

 private:
  struct Share {
    Range images, filters;
    Call call;
    dnnl::stream stream;
    float *weights = nullptr, *bias = nullptr;
  };

  Share share(const LayerSite& site, unsigned number) const {
    constexpr std::int64_t grain = 32;  // filters: whole blocks of oneDNN's
    const std::int64_t filters = site.node().extent.channels;
    Share mine{{0, site.batch}, {0, filters}, {}, dnnl::stream(engine())};
    if (sharing_ == Sharing::filters) mine.filters = share_of(filters, number, site.threads, grain);
    if (sharing_ == Sharing::images) mine.images = share_of(site.batch, number, site.threads);
    const auto sums = describe_backward_weights(site, {mine.images, mine.filters});
    mine.call = Call(BackwardWeights(sums), sums);
    mine.call.reads(DNNL_ARG_SRC, part_of(layouts_.input, mine.images), sums.src_desc());
    mine.call.reads(DNNL_ARG_DIFF_DST,
                    sharing_ == Sharing::filters ? channels_of(layouts_.output, mine.filters)
                                                 : part_of(layouts_.gradient, mine.images),
                    sums.diff_dst_desc());
    const bool some = sharing_ == Sharing::filters;
    mine.call.writes(DNNL_ARG_DIFF_WEIGHTS,
                     some ? part_of(layouts_.weights, mine.filters) : layouts_.weights,
                     sums.diff_weights_desc());
    if (has_bias())
      mine.call.writes(DNNL_ARG_DIFF_BIAS, sums.diff_bias_desc(), sums.diff_bias_desc());
    return mine;
  }

  void add_up(float* Share::*sums, const memory::desc& layout) const {
    const auto size = static_cast<std::int64_t>(layout.get_size() / sizeof(float));
    const auto count = static_cast<unsigned>(shares_.size());
    on_shares(count, size, 16, [&](const Range& range) {
      for (unsigned other = 1; other < count; ++other) {
        add_values(shares_[other].*sums + range.begin, range.size(),
                   shares_[0].*sums + range.begin);
      }
    });
  }

  bool has_bias() const { return layouts_.bias.get_size() != 0; }
  // Of a share of images beside the first.
  std::size_t sums_bytes() const {
    if (sharing_ != Sharing::images) return 0;
    return lines(layouts_.weights.get_size()) + lines(layouts_.bias.get_size());
  }

  Sharing sharing_ = Sharing::onednns;
  Layouts layouts_;
  std::vector<Share> shares_;  // the first writes where the layer's gradients are
};

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
    // Summed in fp32, which is how they are learned; the forward pass has its own copy when it
    // multiplies something narrower.
    const memory::desc in = in_memory(site.batch, site.input);
    const memory::desc out = in_memory(site.batch, output());
    input_ = Factor(in, forward.src_desc());
    gradient_ = Factor(out, weights.diff_dst_desc());
    own_weights_ = site.bf16 ? weights.diff_weights_desc() : forward.weights_desc();
    weight_gradients_ = WeightGradients(site, {.input = input_.desc(),
                                               .gradient = gradient_.desc(),
                                               .output = out,
                                               .weights = own_weights_,
                                               .bias = g.bias});

    forward_ = Call(Forward(forward), forward);
    forward_.reads(DNNL_ARG_SRC, input_.desc(), forward.src_desc());
    forward_.reads(DNNL_ARG_WEIGHTS, own_weights_, forward.weights_desc());
    if (has_bias_) forward_.reads(DNNL_ARG_BIAS, g.bias, g.bias);
    forward_.writes(DNNL_ARG_DST, out, forward.dst_desc());

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
    std::size_t bytes = std::max(forward_.scratch_bytes(), weight_gradients_.scratch_bytes());
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
    } else {
      forward_.bind({in, buffers.parameters[0], buffers.output}, scratch);
    }
    weight_gradients_.bind(in, gradient, buffers, scratch);
    if (!input_learns_) return;
    backward_data_.bind({gradient, buffers.parameters[0], buffers.input_gradient}, scratch);
  }

  void forward(const Pass&) override {
    input_.run(stream_);
    forward_.run(stream_);
  }
  void backward(const Pass&) override {
    gradient_.run(stream_);
    weight_gradients_.run();
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
  WeightGradients weight_gradients_;
  Call forward_, backward_data_;
};

}  // namespace

std::unique_ptr<Layer> make_onednn_conv(const LayerSite& site) {
  try {
    return std::make_unique<OnednnConv>(site, describe_forward(site, Part(site)));
  } catch (const dnnl::error& error) {
    throw Error(join("oneDNN cannot compute ", site.node().name, ": ", error.message));
  }
}

}  // namespace feedrate::cpu
