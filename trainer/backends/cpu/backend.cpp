// The CPU backend: oneDNN and OpenBLAS under OpenMP.

#include <fstream>

#include "formats/base/cores.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/products/product_table.h"
#include "trainer/backends/cpu/products/versions.h"
#include "trainer/backends/cpu/roof.h"
#include "trainer/backends/cpu/session.h"
#include "trainer/backends/plugins/plugin.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return "unnamed processor";
}

void check_precision(const std::string& precision) {
  if (precision != "fp32" && precision != "bf16") {
    throw Error(join("the cpu backend computes in fp32 or bf16, not in ", precision));
  }
  // Without instructions for it, bf16 would be slower than fp32.
  if (precision == "bf16" && !cpu::multiplies_bf16()) {
    throw Error(
        "this processor has no instructions for bf16 that the cpu backend uses (x86-64's "
        "avx512_bf16); use --precision fp32");
  }
}

unsigned threads_for(unsigned asked) { return asked != 0 ? asked : usable_cores(); }

class CpuBackend final : public Backend {
 public:
  CpuBackend() : Backend("cpu", "this machine's cores") {}

  std::string unavailable() const override { return ""; }
  std::string device_name(unsigned threads) const override {
    const unsigned used = threads_for(threads);
    return join(processor_name(), ", ", used, used == 1 ? " thread" : " threads");
  }
  std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const override {
    check_precision(options.precision);
    if (options.pixels != PixelType::u8 && options.pixels != PixelType::f32) {
      throw Error(join("the cpu backend takes u8 pixels or f32 numbers, not ",
                       loader::name(options.pixels)));
    }
    const unsigned threads = threads_for(options.threads);
    cpu::use_one_blas_thread(threads);
    return std::make_unique<cpu::CpuSession>(std::move(plan), options, threads);
  }
  Roof measure_roof(unsigned threads, const std::string&) const override {
    return cpu::measure_roof(threads_for(threads));
  }
  PixelMemory& pixel_memory() const override { return plain_memory(); }
  std::vector<LibraryVersion> libraries() const override { return cpu::library_versions(); }
};

const CpuBackend cpu_backend;

}  // namespace
}  // namespace feedrate::trainer

FEEDRATE_BACKEND_PLUGIN(feedrate::trainer::cpu_backend)
