#include "trainer/backends/cpu/products/gemm.h"

#include <cblas.h>
#include <dnnl.h>
#include <sys/mman.h>

#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/reason.h"
#include "trainer/backends/cpu/products/product_table.h"
#include "trainer/backends/cpu/threads/parallel.h"

// OpenBLAS's own; not in every build of it.
extern "C" void* blas_memory_alloc(int use) __attribute__((weak));
extern "C" void blas_memory_free(void* buffer) __attribute__((weak));

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

// Multiples of this width keep the kernels full.
constexpr std::int64_t grain = 16;

CBLAS_TRANSPOSE order(const Matrix& matrix) {
  return matrix.transposed ? CblasTrans : CblasNoTrans;
}

// An OpenBLAS older than the processor may use kernels of half its vector width (0.3.21 takes a
// Zen 5 for a Haswell) and is then half as fast as oneDNN.
bool blas_is_narrow() {
#if defined(__x86_64__)
  const std::string_view kernels = openblas_get_corename();
  return __builtin_cpu_supports("avx512f") != 0 && kernels != "SkylakeX" &&
         kernels != "Cooperlake" && !kernels.starts_with("Sapphire");
#else
  return false;
#endif
}

// For each thread that calls it at a time, OpenBLAS maps such a buffer at its first call and keeps
// it. Where that fails, it tries again for ever.
constexpr std::size_t blas_buffer_bytes = std::size_t{128} << 20;

class Mapping {
 public:
  Mapping()
      : address_(mmap(nullptr, blas_buffer_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (address_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Mapping() {
    if (address_ != MAP_FAILED) munmap(address_, blas_buffer_bytes);
  }
  Mapping(Mapping&& other) noexcept : address_(std::exchange(other.address_, MAP_FAILED)) {}
  Mapping& operator=(Mapping&&) = delete;

 private:
  void* address_;
};

void expect_room_for_buffers(unsigned threads) try {
  std::vector<Mapping> probes;
  for (unsigned i = 0; i < threads; ++i) probes.emplace_back();
} catch (const std::bad_alloc& error) {
  throw Error(join("OpenBLAS takes ", blas_buffer_bytes >> 20, " MiB of memory for each of ",
                   threads,
                   threads == 1 ? " compute thread: " : " compute threads: ", reason_of(error)));
}

void take_buffers(unsigned threads) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return;
  std::vector<void*> buffers;
  for (unsigned i = 0; i < threads; ++i) buffers.push_back(blas_memory_alloc(0));
  for (void* const buffer : buffers) blas_memory_free(buffer);
}

}  // namespace

void use_one_blas_thread(unsigned callers) {
  static unsigned served = 0;  // by buffers that OpenBLAS has
  openblas_set_num_threads(1);
  if (callers <= served) return;
  expect_room_for_buffers(callers - served);
  take_buffers(callers);
  served = callers;
}

void run_by_onednn(const Gemm& g) {
  const auto letter = [](const Matrix& matrix) { return matrix.transposed ? 'T' : 'N'; };
  const dnnl_status_t status = dnnl_sgemm(letter(g.a), letter(g.b), g.m, g.n, g.k, 1.0F, g.a.data,
                                          g.a.stride, g.b.data, g.b.stride, g.keep, g.c, g.stride);
  if (status != dnnl_success) {
    throw Error(join("oneDNN cannot multiply ", g.m, " x ", g.k, " by ", g.k, " x ", g.n));
  }
}

void run_by_openblas(const Gemm& g) {
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, order(g.a), order(g.b), size(g.m), size(g.n), size(g.k), 1.0F,
              g.a.data, size(g.a.stride), g.b.data, size(g.b.stride), g.keep, g.c, size(g.stride));
}

void run(const Gemm& g) {
  static const bool narrow = blas_is_narrow();
  const bool by_onednn = narrow || g.m * g.n * g.k >= product_limits().onednn_gemm_macs;
  if (by_onednn) {
    run_by_onednn(g);
  } else {
    run_by_openblas(g);
  }
}

void run_shared(const Gemm& g, unsigned threads, void (*run_part)(const Gemm&)) {
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
    run_part(part);
  });
}

}  // namespace feedrate::trainer::cpu
