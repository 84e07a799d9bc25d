#pragma once
// The types of values in device memory: fp32 or one of two types of 16 bits, interleaved (NHWC) as
// tensor cores want them. All maths is in fp32: kernels widen what they load and round what they
// store.

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudnn.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace feedrate::trainer::cuda {

enum class ValueType : std::uint8_t { fp32, bf16, fp16 };

/// Whether a type has 16 bits, so that its values are rounded from fp32.
template <class T>
inline constexpr bool narrow = sizeof(T) == 2;
constexpr bool is_narrow(ValueType type) { return type != ValueType::fp32; }
constexpr std::size_t bytes_of(ValueType type) { return is_narrow(type) ? 2 : 4; }

/// The libraries' names of a type.
template <class T>
inline constexpr cudnnDataType_t cudnn_type = CUDNN_DATA_FLOAT;
template <>
inline constexpr cudnnDataType_t cudnn_type<__nv_bfloat16> = CUDNN_DATA_BFLOAT16;
template <>
inline constexpr cudnnDataType_t cudnn_type<__half> = CUDNN_DATA_HALF;
template <class T>
inline constexpr cudaDataType_t blas_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType_t blas_type<__nv_bfloat16> = CUDA_R_16BF;
template <>
inline constexpr cudaDataType_t blas_type<__half> = CUDA_R_16F;

/// Returns body(T{}), where T is the type that `type` names.
template <class Body>
auto with_type(ValueType type, const Body& body) {
  switch (type) {
    case ValueType::bf16:
      return body(__nv_bfloat16{});
    case ValueType::fp16:
      return body(__half{});
    case ValueType::fp32:
      break;
  }
  return body(float{});
}

/// What a thread loads and stores at once: `count` neighbouring values, which are 16 bytes or one
/// value.
template <class T, unsigned count>
struct Lanes {
  static_assert(count == 1 || count * sizeof(T) == 16);
  float values[count];
};
/// The values in 16 bytes.
template <class T>
inline constexpr unsigned full_lanes = 16 / sizeof(T);

template <class T, unsigned count>
__device__ Lanes<T, count> load(const T* from) {
  Lanes<T, count> lanes;
  if constexpr (count == 1) {
    lanes.values[0] = static_cast<float>(*from);
  } else {
    const uint4 raw = *reinterpret_cast<const uint4*>(from);
    T narrow[count];
    std::memcpy(static_cast<void*>(narrow), &raw, sizeof(raw));
    for (unsigned k = 0; k < count; ++k) lanes.values[k] = static_cast<float>(narrow[k]);
  }
  return lanes;
}

/// Stores 16 bytes in device memory at once. nvcc splits an assignment of values that it has just
/// computed into stores of 4 bytes.
__device__ inline void store_whole(uint4* to, const uint4& raw) {
#ifdef __CUDA_ARCH__
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(raw.x), "r"(raw.y), "r"(raw.z), "r"(raw.w)
               : "memory");
#else
  *to = raw;
#endif
}

template <class T, unsigned count>
__device__ void store(T* to, const Lanes<T, count>& lanes) {
  if constexpr (count == 1) {
    *to = static_cast<T>(lanes.values[0]);
  } else {
    T narrow[count];
    for (unsigned k = 0; k < count; ++k) narrow[k] = static_cast<T>(lanes.values[k]);
    uint4 raw;
    std::memcpy(&raw, narrow, sizeof(raw));
    store_whole(reinterpret_cast<uint4*>(to), raw);
  }
}

/// A byte for each of `count` neighbouring values, which a thread loads and stores at once.
template <unsigned count>
struct ByteLanes {
  static_assert(count == 1 || count == 4 || count == 8);
  /// What moves them in one instruction.
  using Whole =
      std::conditional_t<count == 8, uint2, std::conditional_t<count == 4, unsigned, std::uint8_t>>;
  std::uint8_t values[count];
};
template <unsigned count>
__device__ ByteLanes<count> load_bytes(const std::uint8_t* from) {
  using Whole = typename ByteLanes<count>::Whole;
  const Whole raw = *reinterpret_cast<const Whole*>(from);
  ByteLanes<count> lanes;
  std::memcpy(&lanes, &raw, sizeof(raw));
  return lanes;
}
template <unsigned count>
__device__ void store_bytes(std::uint8_t* to, const ByteLanes<count>& lanes) {
  using Whole = typename ByteLanes<count>::Whole;
  Whole raw;
  std::memcpy(&raw, &lanes, sizeof(raw));
  *reinterpret_cast<Whole*>(to) = raw;
}

}  // namespace feedrate::trainer::cuda
