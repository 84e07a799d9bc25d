#pragma once
// A matrix product by cuBLASLt, whose algorithm is chosen once. Column-major; sums are fp32.

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

struct Matrix {
  enum Use : std::uint8_t { as_is, transposed };
  std::int64_t rows;  // as it lies in memory, column after column
  std::int64_t columns;
  Use use;
};

/// D = a·b, plus `bias` (one value for each row of D) if it is not null.
struct Product {
  Matrix a;
  Matrix b;
  const void* bias = nullptr;  // of the result's type
  bool then_relu = false;      // after the bias
  cudaDataType_t factors = CUDA_R_32F;
  cudaDataType_t result = CUDA_R_32F;
};

class Matmul {
 public:
  /// Throws Error, which names `what`, if cuBLASLt has no algorithm for it.
  Matmul(const Context& context, const std::string& what, const Product& product);
  std::size_t workspace_bytes() const { return workspace_; }
  /// All pointers are aligned to device_alignment; `workspace` holds workspace_bytes().
  void run(const void* a, const void* b, void* d, std::byte* workspace) const;

 private:
  using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

  const Context& context_;
  Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
  Layout a_;
  Layout b_;
  Layout d_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_ = 0;
};

}  // namespace feedrate::trainer::cuda
