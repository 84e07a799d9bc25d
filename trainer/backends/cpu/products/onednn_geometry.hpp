#pragma once
// Descriptions of a convolution for oneDNN. Private to this folder's .cpp files.

#include <dnnl.hpp>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/onednn_call.hpp"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cpu {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

inline memory::desc values(std::int64_t batch, const Extent& extent, Tag tag, Type type = f32) {
  return {{batch, extent.channels, extent.height, extent.width}, type, tag};
}

inline memory::desc in_memory(std::int64_t batch, const Layout& layout, Type type = f32) {
  const Tag tag = layout.block == 16  ? Tag::nChw16c
                  : layout.block == 8 ? Tag::nChw8c
                  : layout.block == 1 ? Tag::nchw
                                      : Tag::nhwc;
  return values(batch, layout.extent, tag, type);
}

// Our layout that equals oneDNN's choice; otherwise NCHW, to which the values are reordered.
inline Layout nearest_layout(const memory::desc& chosen, std::int64_t batch, const Extent& extent) {
  for (const std::int64_t block : {std::int64_t{16}, std::int64_t{8}, extent.channels}) {
    const Layout layout{extent, block};
    if (chosen == in_memory(batch, layout, type_of(chosen))) return layout;
  }
  return {extent, 1};
}

// The images and filters of a part of a convolution.
struct Part {
  std::int64_t images, filters;
  explicit Part(const LayerSite& site) : images(site.batch), filters(site.node().extent.channels) {}
  Part(const Range& of_images, const Range& of_filters)
      : images(of_images.size()), filters(of_filters.size()) {}
};

// The arguments of all three passes of a convolution; oneDNN chooses the layouts. Factors have the
// requested precision; results are summed in fp32, and stored in the type of the site's values or,
// those of parameters, in fp32.
struct Geometry {
  memory::desc in, out, weights;                             // as factors
  memory::desc out_sum, in_gradient_sum, weights_sum, bias;  // as results
  memory::dims strides, pads;

  explicit Geometry(const LayerSite& site) : Geometry(site, Part(site)) {}
  Geometry(const LayerSite& site, const Part& part)
      : in(values(part.images, site.input.extent, Tag::any, factor_type(site))),
        out(outputs(site, part, factor_type(site))),
        weights(canonical_weights(site, Tag::any, factor_type(site), part.filters)),
        out_sum(outputs(site, part, onednn_type(site.type))),
        in_gradient_sum(
            values(part.images, site.input.extent, Tag::any, onednn_type(site.input_type))),
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
  // Empty, which means none to oneDNN, if the convolution has no bias.
  static memory::desc bias_of(const LayerSite& site, std::int64_t filters) {
    if (site.node().parameters.size() < 2) return {};
    return {{filters}, f32, Tag::x};
  }
};

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
inline constexpr auto direct = dnnl::algorithm::convolution_direct;

inline Forward::primitive_desc describe_forward(const LayerSite& site, const Part& part) {
  const Geometry g(site, part);
  return describe<Forward>(own_scratchpad(), dnnl::prop_kind::forward_training, direct, g.in,
                           g.weights, g.bias, g.out_sum, g.strides, g.pads, g.pads);
}

inline BackwardWeights::primitive_desc describe_backward_weights(const LayerSite& site,
                                                                 const Part& part) {
  const Geometry g(site, part);
  return describe_backward<BackwardWeights>(own_scratchpad(), describe_forward(site, part), direct,
                                            g.in, g.weights_sum, g.bias, g.out, g.strides, g.pads,
                                            g.pads);
}

}  // namespace feedrate::trainer::cpu
