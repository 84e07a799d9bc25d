#include "trainer/backends/cpu/roof.h"

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/stopwatch.h"
#include "trainer/backends/cpu/memory.h"
#include "trainer/backends/cpu/products/onednn_version.hpp"
#include "trainer/backends/cpu/threads/held_signals.h"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

// Large enough that its edges cost nothing, small enough to take a tenth of a second.
constexpr std::int64_t side = 1536;
// More than the caches of a core hold. If a machine's last-level cache is larger still, this
// measures that cache, as layers do.
constexpr std::size_t copied = std::size_t{128} << 20;  // bytes
constexpr int rounds = 5;

/// The seconds of the fastest of several rounds, after one round that is not timed.
template <class Once>
double best_seconds(const Once& once) {
  once();
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const Stopwatch stopwatch;
    once();
    best = std::min(best, stopwatch.seconds());
  }
  return best;
}

double measure_flops() {
  using dnnl::memory;
  dnnl::stream stream(engine());
  const memory::desc any({side, side}, memory::data_type::f32, memory::format_tag::any);
  const auto product = describe<dnnl::matmul>({}, any, any, any);
  std::vector<memory> matrices;
  for (const memory::desc& desc :
       {product.src_desc(), product.weights_desc(), product.dst_desc()}) {
    matrices.emplace_back(desc, engine());
    std::fill_n(static_cast<float*>(matrices.back().get_data_handle()),
                desc.get_size() / sizeof(float), 0.01F);
  }
  const dnnl::matmul matmul(product);
  const double seconds = best_seconds([&] {
    matmul.execute(stream, {{DNNL_ARG_SRC, matrices[0]},
                            {DNNL_ARG_WEIGHTS, matrices[1]},
                            {DNNL_ARG_DST, matrices[2]}});
    stream.wait();
  });
  return 2.0 * side * side * side / seconds;
}

double measure_bytes(unsigned threads) {
  const Memory from(copied), to(copied);
  const double seconds = best_seconds([&] {
    on_shares(threads, static_cast<std::int64_t>(copied), cache_line, [&](const Range& range) {
      const auto begin = static_cast<std::size_t>(range.begin);
      std::memcpy(to.at(begin), from.at(begin), static_cast<std::size_t>(range.size()));
    });
  });
  return 2.0 * copied / seconds;
}

}  // namespace

Roof measure_roof(unsigned threads) {
  const OmpThreads omp(threads);
  const HeldSignals held(threads);
  try {
    return {measure_flops(), measure_bytes(threads)};
  } catch (const dnnl::error& error) {
    throw Error(join("oneDNN cannot multiply matrices: ", error.message));
  }
}

}  // namespace feedrate::trainer::cpu
