#pragma once
// An owned descriptor, of which cuDNN's graphs are made. Set its attributes by name, then finalize
// it; after that it can be read and become part of others. For one thread. Every call is checked
// and throws an Error with cuDNN's own reason.

#include <cudnn.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

/// cuDNN's name of the type of an attribute's values.
template <class T>
struct AttributeType;
template <cudnnBackendAttributeType_t type>
struct AttributeTypeIs {
  static constexpr cudnnBackendAttributeType_t value = type;
};
template <>
struct AttributeType<std::int64_t> : AttributeTypeIs<CUDNN_TYPE_INT64> {};
template <>
struct AttributeType<float> : AttributeTypeIs<CUDNN_TYPE_FLOAT> {};
template <>
struct AttributeType<void*> : AttributeTypeIs<CUDNN_TYPE_VOID_PTR> {};
template <>
struct AttributeType<cudnnHandle_t> : AttributeTypeIs<CUDNN_TYPE_HANDLE> {};
template <>
struct AttributeType<cudnnDataType_t> : AttributeTypeIs<CUDNN_TYPE_DATA_TYPE> {};
template <>
struct AttributeType<cudnnConvolutionMode_t> : AttributeTypeIs<CUDNN_TYPE_CONVOLUTION_MODE> {};
template <>
struct AttributeType<cudnnBackendHeurMode_t> : AttributeTypeIs<CUDNN_TYPE_HEUR_MODE> {};
template <>
struct AttributeType<cudnnBackendKnobType_t> : AttributeTypeIs<CUDNN_TYPE_KNOB_TYPE> {};
template <>
struct AttributeType<cudnnBackendNumericalNote_t> : AttributeTypeIs<CUDNN_TYPE_NUMERICAL_NOTE> {};
template <>
struct AttributeType<cudnnBackendBehaviorNote_t> : AttributeTypeIs<CUDNN_TYPE_BEHAVIOR_NOTE> {};

class GraphDescriptor {
 public:
  explicit GraphDescriptor(cudnnBackendDescriptorType_t kind);

  template <class T>
  void set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    set(name, AttributeType<T>::value, values.size(), values.data());
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, std::initializer_list<T> values) {
    set(name, std::span<const T>(values));
  }
  /// The part must be finalized and outlive this descriptor.
  void set_part(cudnnBackendAttributeName_t name, const GraphDescriptor& part);
  void finalize();

  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T value{};
    get(name, AttributeType<T>::value, 1, &value);
    return value;
  }
  /// At most the first `max_count` values.
  template <class T>
  std::vector<T> get_all(cudnnBackendAttributeName_t name, std::size_t max_count) const {
    std::vector<T> values(max_count);
    values.resize(get(name, AttributeType<T>::value, max_count, values.data()));
    return values;
  }
  std::vector<GraphDescriptor> parts(cudnnBackendAttributeName_t name,
                                     cudnnBackendDescriptorType_t kind,
                                     std::size_t max_count) const;
  /// An upper bound: parts() may return fewer than cuDNN counts.
  std::size_t count_parts(cudnnBackendAttributeName_t name) const;

  cudnnBackendDescriptor_t handle() const { return handle_.get(); }

 private:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
           const void* values);
  std::size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::size_t max_count, void* values) const;

  cudnnBackendDescriptorType_t kind_;
  Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor> handle_;
};

}  // namespace feedrate::trainer::cuda
