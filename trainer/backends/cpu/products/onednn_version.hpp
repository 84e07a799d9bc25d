#pragma once
// One interface to oneDNN 2 and 3, which differ in how primitives are described and layouts are
// queried. Private to this folder's .cpp files.

#include <dnnl.hpp>

namespace feedrate::trainer::cpu {

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// Describes a primitive. Both versions take the same arguments in the same order.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe(const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., attributes};
#else
  return {{arguments...}, attributes, engine()};
#endif
}

/// The same for a backward primitive, which also needs the description of its forward primitive.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc describe_backward(const dnnl::primitive_attr& attributes,
                                                     const Forward& forward,
                                                     const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., forward, attributes};
#else
  return {{arguments...}, attributes, engine(), forward};
#endif
}

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.get_dims(); }
inline dnnl::memory::dims padded_dims_of(const dnnl::memory::desc& desc) {
  return desc.get_padded_dims();
}
/// The distance from one element of a dimension to the next; in blocked dimensions, between blocks.
inline dnnl::memory::dims strides_of(const dnnl::memory::desc& desc) { return desc.get_strides(); }
inline dnnl::memory::data_type type_of(const dnnl::memory::desc& desc) {
  return desc.get_data_type();
}

#else

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.dims(); }
inline dnnl::memory::dims padded_dims_of(const dnnl::memory::desc& desc) {
  return {desc.data.padded_dims, desc.data.padded_dims + desc.data.ndims};
}
/// The distance from one element of a dimension to the next; in blocked dimensions, between blocks.
inline dnnl::memory::dims strides_of(const dnnl::memory::desc& desc) {
  const dnnl_dim_t* const strides = desc.data.format_desc.blocking.strides;
  return {strides, strides + desc.data.ndims};
}
inline dnnl::memory::data_type type_of(const dnnl::memory::desc& desc) { return desc.data_type(); }

#endif

}  // namespace feedrate::trainer::cpu
