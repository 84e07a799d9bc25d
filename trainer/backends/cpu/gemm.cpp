#include "trainer/backends/cpu/gemm.h"

#include <cblas.h>

#include "trainer/backends/cpu/parallel.h"

namespace feedrate::cpu {
namespace {

// Widths of this multiple keep OpenBLAS's kernels full.
constexpr std::int64_t grain = 16;

CBLAS_TRANSPOSE order(const Matrix& matrix) {
  return matrix.transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

void use_one_blas_thread() { openblas_set_num_threads(1); }

void run(const Gemm& g) {
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, order(g.a), order(g.b), size(g.m), size(g.n), size(g.k), 1.0F,
              g.a.data, size(g.a.stride), g.b.data, size(g.b.stride), g.keep, g.c, size(g.stride));
}

void run_shared(const Gemm& g, unsigned threads) {
  const bool by_columns = g.n >= g.m;
  on_shares(threads, by_columns ? g.n : g.m, grain, [&](const Range& range) {
    Gemm part = g;
    if (by_columns) {
      part.n = range.size();
      part.b.data += range.begin * (g.b.transposed ? g.b.stride : 1);
      part.c += range.begin;
    } else {
      part.m = range.size();
      part.a.data += range.begin * (g.a.transposed ? 1 : g.a.stride);
      part.c += range.begin * g.stride;
    }
    run(part);
  });
}

}  // namespace feedrate::cpu
