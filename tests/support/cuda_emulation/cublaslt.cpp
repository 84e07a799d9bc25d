// The part of cuBLASLt that we call, as plain loops. It refuses what the real library would refuse.

#include <cublasLt.h>

#include <cstdint>
#include <cstring>

#include "numbers.h"
#include "queue.h"

namespace {

using feedrate::emulation::Number;
using feedrate::emulation::read;
using feedrate::emulation::write;

constexpr std::size_t workspace_needed = 4096;

struct Operation {
  cublasOperation_t a = CUBLAS_OP_N;
  cublasOperation_t b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  bool tf32 = false;
};
struct Layout {
  std::size_t rows, columns, stride;
  Number type;
};

bool has_bias(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

Operation& of(cublasLtMatmulDesc_t operation) { return *reinterpret_cast<Operation*>(operation); }
const Layout& of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }

struct Product {
  Operation operation;
  Layout a, b, d;

  std::size_t depth() const { return operation.a == CUBLAS_OP_N ? a.columns : a.rows; }
  bool fits() const {
    return d.rows == (operation.a == CUBLAS_OP_N ? a.rows : a.columns) &&
           d.columns == (operation.b == CUBLAS_OP_N ? b.columns : b.rows) &&
           depth() == (operation.b == CUBLAS_OP_N ? b.rows : b.columns) && a.stride >= a.rows &&
           b.stride >= b.rows && d.stride >= d.rows;
  }
  // Sums in fp32 of factors of one type, kept as such or in fp32.
  bool known() const {
    return a.type == b.type && (d.type == a.type || d.type == Number::fp32) &&
           (a.type == Number::fp32 || !operation.tf32) &&
           (operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT || has_bias(operation.epilogue));
  }
  void run(const void* left, const void* right, void* to) const {
    for (std::size_t j = 0; j < d.columns; ++j) {
      for (std::size_t i = 0; i < d.rows; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < depth(); ++k) {
          sum +=
              read(a.type, left, operation.a == CUBLAS_OP_N ? k * a.stride + i : i * a.stride + k) *
              read(b.type, right, operation.b == CUBLAS_OP_N ? j * b.stride + k : k * b.stride + j);
        }
        // The bias has the type of the result.
        sum += has_bias(operation.epilogue) ? read(d.type, operation.bias, i) : 0.0F;
        if (operation.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && sum < 0) sum = 0;
        write(d.type, to, j * d.stride + i, sum);
      }
    }
  }
};

bool aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 256 == 0; }

}  // namespace

extern "C" {

const char* cublasLtGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_EMULATED"; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "emulated failure"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t arithmetic, cudaDataType_t type) {
  const bool tf32 = arithmetic == CUBLAS_COMPUTE_32F_FAST_TF32;
  if ((arithmetic != CUBLAS_COMPUTE_32F && !tf32) || type != CUDA_R_32F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  auto* made = new Operation;
  made->tf32 = tf32;
  *operation = reinterpret_cast<cublasLtMatmulDesc_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete &of(operation);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  Operation& o = of(operation);
  const auto take = [&](auto& to) {
    if (bytes != sizeof(to)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(o.a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(o.b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(o.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(o.bias);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
  if (type != CUDA_R_32F && type != CUDA_R_16BF && type != CUDA_R_16F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Number number = type == CUDA_R_32F    ? Number::fp32
                        : type == CUDA_R_16BF ? Number::bf16
                                              : Number::fp16;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{rows, columns, static_cast<std::size_t>(stride), number});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<int*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void*, std::size_t bytes) {
  const bool known =
      attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof(std::size_t);
  return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* returned) {
  const Product product{of(operation), of(a), of(b), of(d)};
  if (!product.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!product.known()) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  results[0].workspaceSize = workspace_needed;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void*,
                              const void* left, cublasLtMatrixLayout_t a, const void* right,
                              cublasLtMatrixLayout_t b, const void*, const void* c,
                              cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void* workspace, std::size_t bytes,
                              cudaStream_t stream) {
  const Product product{of(operation), of(a), of(b), of(d)};
  if (!product.fits() || !product.known() || c != to || workspace == nullptr ||
      bytes < workspace_needed || !aligned(left) || !aligned(right) || !aligned(to) ||
      !aligned(workspace) || !aligned(product.operation.bias)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaError_t taken = feedrate::emulation::enqueue(stream, [=] {
    std::memset(workspace, 0xff, bytes);
    product.run(left, right, to);
    feedrate::emulation::pass(feedrate::emulation::launch_milliseconds);
  });
  return taken == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
