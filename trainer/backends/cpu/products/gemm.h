#pragma once
// Matrix products in fp32, by OpenBLAS or by oneDNN. The libraries run single-threaded: their
// threads are slow on small matrices and compete with ours.

#include <cstdint>

namespace feedrate::trainer::cpu {

/// A row-major matrix, or its transpose.
struct Matrix {
  const float* data;
  std::int64_t stride;  // floats from one row (as stored) to the next
  bool transposed = false;
};

/// c (m × n, row-major) = a (m × k) · b (k × n) + keep · c, with keep 0 or 1.
struct Gemm {
  std::int64_t m, n, k;
  Matrix a, b;
  float keep;
  float* c;
  std::int64_t stride;
};

/// Must be called before the functions below, for as many threads as will call them at a time. Throws
/// Error where there is no memory for that many. One thread.
void use_one_blas_thread(unsigned callers);
/// Computes on the calling thread, by oneDNN if the table of products says so or if OpenBLAS does
/// not know the processor.
void run(const Gemm& gemm);
/// The same by one library.
void run_by_openblas(const Gemm& gemm);
void run_by_onednn(const Gemm& gemm);
/// Computes on `threads` threads, which divide the longer side of c.
void run_shared(const Gemm& gemm, unsigned threads, void (*run_part)(const Gemm&) = run);

}  // namespace feedrate::trainer::cpu
