#pragma once
// Numbers in memory, of the types that we use with the libraries.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>

namespace feedrate::emulation {

enum class Number { fp32, bf16, fp16 };

inline std::size_t bytes_of(Number type) { return type == Number::fp32 ? 4 : 2; }

inline float read(Number type, const void* memory, std::size_t i) {
  switch (type) {
    case Number::bf16:
      return static_cast<float>(static_cast<const __nv_bfloat16*>(memory)[i]);
    case Number::fp16:
      return static_cast<float>(static_cast<const __half*>(memory)[i]);
    case Number::fp32:
      break;
  }
  return static_cast<const float*>(memory)[i];
}

inline void write(Number type, void* memory, std::size_t i, float value) {
  switch (type) {
    case Number::bf16:
      static_cast<__nv_bfloat16*>(memory)[i] = __nv_bfloat16(value);
      return;
    case Number::fp16:
      static_cast<__half*>(memory)[i] = __half(value);
      return;
    case Number::fp32:
      static_cast<float*>(memory)[i] = value;
  }
}

}  // namespace feedrate::emulation
