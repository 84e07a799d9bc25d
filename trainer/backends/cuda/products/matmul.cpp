#include "trainer/backends/cuda/products/matmul.cuh"

#include <cassert>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

auto make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns) {
  return make<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>(
      "cublasLtMatrixLayoutCreate", cublasLtMatrixLayoutCreate, type,
      static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows);
}

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, T value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
}

cublasOperation_t operation_of(const Matrix& matrix) {
  return matrix.use == Matrix::transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// The sizes after the transposition.
std::int64_t rows(const Matrix& m) { return m.use == Matrix::transposed ? m.columns : m.rows; }
std::int64_t columns(const Matrix& m) { return m.use == Matrix::transposed ? m.rows : m.columns; }

auto make_operation(const Context& context, const Product& product) {
  const cublasComputeType_t arithmetic =
      context.rounds_fp32_products() && product.factors == CUDA_R_32F ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                      : CUBLAS_COMPUTE_32F;
  auto operation = make<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>(
      "cublasLtMatmulDescCreate", cublasLtMatmulDescCreate, arithmetic, CUDA_R_32F);
  set(operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, operation_of(product.a));
  set(operation.get(), CUBLASLT_MATMUL_DESC_TRANSB, operation_of(product.b));
  if (product.bias != nullptr) {
    set(operation.get(), CUBLASLT_MATMUL_DESC_EPILOGUE,
        product.then_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
    set(operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
  }
  return operation;
}

}  // namespace

Matmul::Matmul(const Context& context, const std::string& what, const Product& product)
    : context_(context),
      operation_(make_operation(context, product)),
      a_(make_layout(product.factors, product.a.rows, product.a.columns)),
      b_(make_layout(product.factors, product.b.rows, product.b.columns)),
      d_(make_layout(product.result, rows(product.a), columns(product.b))) {
  assert(columns(product.a) == rows(product.b));
  const auto preference = make<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>(
      "cublasLtMatmulPreferenceCreate", cublasLtMatmulPreferenceCreate);
  const std::size_t workspace_limit = context.workspace_limit();
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                             CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace_limit, sizeof(workspace_limit)),
        "cublasLtMatmulPreferenceSetAttribute");
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(context.blas(), operation_.get(), a_.get(), b_.get(),
                                       d_.get(), d_.get(), preference.get(), 1, &best, &found),
        "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0 || best.state != CUBLAS_STATUS_SUCCESS) {
    throw Error(join("cuBLASLt has no product of ", rows(product.a), "x", columns(product.a),
                     " by ", rows(product.b), "x", columns(product.b), " for ", what));
  }
  algorithm_ = best.algo;
  workspace_ = best.workspaceSize;
}

void Matmul::run(const void* a, const void* b, void* d, std::byte* workspace) const {
  const float one = 1;
  const float zero = 0;
  check(
      cublasLtMatmul(context_.blas(), operation_.get(), &one, a, a_.get(), b, b_.get(), &zero, d,
                     d_.get(), d, d_.get(), &algorithm_, workspace, workspace_, context_.compute()),
      "cublasLtMatmul");
}

}  // namespace feedrate::trainer::cuda
