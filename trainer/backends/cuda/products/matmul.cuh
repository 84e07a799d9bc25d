#pragma once
// One product of matrices by cuBLASLt, its algorithm chosen once. Column-major; sums in fp32.

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

struct Matrix {
  enum Use : std::uint8_t { as_is, transposed };
  std::int64_t rows;  // as it lies in memory, one column after the other
  std::int64_t columns;
  Use use;
};

/// D = a·b, plus `bias` (one for each row of D) when it is not null.
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
  /// Throws Error naming `what` when cuBLASLt cannot do it.
  Matmul(const Context& context, const std::string& what, const Product& product);
  std::size_t workspace_bytes() const { return workspace_; }
  /// All aligned to device_alignment.
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
