#include "trainer/backends/cpu/products/product_table.h"

#include <dnnl.h>

#include <algorithm>
#include <array>
#include <limits>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace feedrate::trainer::cpu {
namespace {

constexpr std::int64_t mega = std::int64_t{1} << 20,
                       never = std::numeric_limits<std::int64_t>::max();

// The kind, then the limits in the order of ProductLimits.
constexpr std::array table{
    // Fitted to 213 layers of the networks of samples/bench_trainer.sh on one thread, with oneDNN
    // 2.6.3 and OpenBLAS 0.3.21; but for the first limit. Alone, LeNet's first layer is faster by
    // oneDNN; with its output's 20 channels padded to 32 for the layers behind it, the step is
    // slower.
    ProductLimits{"zen4", 0.7, 0.6, 0.45, 0, 28, 2 * mega, 2 * mega},
    // A Zen 4's, but for matrix products in fp32. With the kernels of other instruction sets on
    // that machine it takes up to 1.8 % (AVX2) and 1.2 % (AVX-512) longer than the fastest ways,
    // LeNet aside.
    ProductLimits{"", 0.7, 0.6, 0.45, 0, 28, 2 * mega, never},
};

// AMD's processors have the instructions of Intel's, at other speeds.
enum class Zen { none, zen4, zen5 };
Zen zen() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__builtin_cpu_is("amd") == 0 || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return Zen::none;
  const unsigned family = ((eax >> 8) & 0xf) + ((eax >> 20) & 0xff);
  if (family == 0x19) return Zen::zen4;  // or a Zen 3, which has no avx512
  if (family == 0x1a) return Zen::zen5;
#endif
  return Zen::none;
}

bool has(int isa) { return (dnnl_get_effective_cpu_isa() & isa) == isa; }

}  // namespace

bool multiplies_bf16() { return has(dnnl_cpu_isa_avx512_core_bf16); }

std::string_view processor_kind() {
  if (has(dnnl_cpu_isa_avx512_core_amx)) return "amx";
  if (multiplies_bf16()) {
    const Zen own = zen();
    return own == Zen::zen4 ? "zen4" : own == Zen::zen5 ? "zen5" : "avx512_bf16";
  }
  if (has(dnnl_cpu_isa_avx512_core)) return "avx512";
  return has(dnnl_cpu_isa_avx2) ? "avx2" : "older";
}

std::span<const ProductLimits> product_table() { return table; }

const ProductLimits& product_limits() {
  static const ProductLimits& own = *std::ranges::find_if(table, [](const ProductLimits& row) {
    return row.processor == processor_kind() || row.processor.empty();
  });
  return own;
}

}  // namespace feedrate::trainer::cpu
