#pragma once
// oneDNN 2 and 3 by the same words: they differ in how a primitive is described and in how a layout
// is asked. Private to this folder's .cpp files.

#include <dnnl.hpp>

namespace feedrate::trainer::cpu {

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// `words`: what the primitive is told in either version, layouts and all, in the order of both.
template <class Primitive, class... Words>
typename Primitive::primitive_desc describe(const dnnl::primitive_attr& attributes,
                                            const Words&... words) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), words..., attributes};
#else
  return {{words...}, attributes, engine()};
#endif
}

/// The same of a backward primitive, to which oneDNN wants its forward one.
template <class Primitive, class Forward, class... Words>
typename Primitive::primitive_desc describe_backward(const dnnl::primitive_attr& attributes,
                                                     const Forward& forward,
                                                     const Words&... words) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), words..., forward, attributes};
#else
  return {{words...}, attributes, engine(), forward};
#endif
}

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.get_dims(); }
inline dnnl::memory::dims padded_dims_of(const dnnl::memory::desc& desc) {
  return desc.get_padded_dims();
}
/// From one element of a dimension to the next; of a blocked one, from one block.
inline dnnl::memory::dims strides_of(const dnnl::memory::desc& desc) { return desc.get_strides(); }
inline dnnl::memory::data_type type_of(const dnnl::memory::desc& desc) {
  return desc.get_data_type();
}

#else

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.dims(); }
inline dnnl::memory::dims padded_dims_of(const dnnl::memory::desc& desc) {
  return {desc.data.padded_dims, desc.data.padded_dims + desc.data.ndims};
}
/// From one element of a dimension to the next; of a blocked one, from one block.
inline dnnl::memory::dims strides_of(const dnnl::memory::desc& desc) {
  const dnnl_dim_t* const strides = desc.data.format_desc.blocking.strides;
  return {strides, strides + desc.data.ndims};
}
inline dnnl::memory::data_type type_of(const dnnl::memory::desc& desc) { return desc.data_type(); }

#endif

}  // namespace feedrate::trainer::cpu
