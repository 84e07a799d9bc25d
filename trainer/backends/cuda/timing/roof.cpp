#include "trainer/backends/cuda/timing/roof.cuh"

#include <algorithm>
#include <limits>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/products/matmul.cuh"
#include "trainer/backends/cuda/products/random_values.cuh"

namespace feedrate::trainer::cuda {

namespace {

// The side of a square product: 8,448 on an H100. Several tiles for each multiprocessor, and long
// enough that the ends of the product cost nothing.
constexpr std::int64_t side_for_each_multiprocessor = 64;
// Far more than the caches hold, but no more than a quarter of what is free.
constexpr std::size_t max_copied = std::size_t{1} << 30;
constexpr int rounds = 5;

/// The seconds of the fastest of several rounds, after one that is not timed.
template <class Once>
double best_seconds(const Context& context, const Once& once) {
  const Event begin = make_event(cudaEventDefault);
  const Event end = make_event(cudaEventDefault);
  float best = std::numeric_limits<float>::infinity();
  for (int i = 0; i <= rounds; ++i) {
    check(cudaEventRecord(begin.get(), context.compute()), "cudaEventRecord");
    once();
    check(cudaEventRecord(end.get(), context.compute()), "cudaEventRecord");
    context.wait();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    if (i > 0) best = std::min(best, milliseconds);
  }
  return static_cast<double>(best) / 1e3;
}

DeviceMemory random_matrix(const Context& context, std::size_t bytes) {
  DeviceMemory memory(bytes, "matrices");
  fill_randomly(context, context.values(), 1, memory);
  return memory;
}

double measure_flops(const Context& context) {
  const std::int64_t side = side_for_each_multiprocessor * context.multiprocessors();
  const cudaDataType_t type =
      with_type(context.values(), [](auto value) { return blas_type<decltype(value)>; });
  const Matrix square{.rows = side, .columns = side, .use = Matrix::as_is};
  const Matmul product(context, "the roof",
                       {.a = square, .b = square, .factors = type, .result = type});
  const std::size_t bytes = static_cast<std::size_t>(side * side) * bytes_of(context.values());
  const DeviceMemory a = random_matrix(context, bytes), b = random_matrix(context, bytes);
  const DeviceMemory d(bytes, "matrices"), workspace(product.workspace_bytes(), "workspaces");
  const double seconds =
      best_seconds(context, [&] { product.run(a.data(), b.data(), d.data(), workspace.data()); });
  const auto values = static_cast<double>(side);
  return 2 * values * values * values / seconds;
}

double measure_bytes(const Context& context) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const std::size_t copied =
      std::max(std::min(max_copied, free / 4) / device_alignment, std::size_t{1}) *
      device_alignment;
  const DeviceMemory from(copied, "copies"), to(copied, "copies");
  const double seconds = best_seconds(context, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), copied, cudaMemcpyDeviceToDevice,
                          context.compute()),
          "cudaMemcpyAsync");
  });
  return 2 * static_cast<double>(copied) / seconds;
}

}  // namespace

Roof measure_roof(const std::string& precision) {
  const Context context(precision);
  return {.flops = measure_flops(context),
          .bytes = measure_bytes(context),
          .precision = *std::ranges::find(known_precisions, precision),
          .value_bytes = static_cast<double>(bytes_of(context.values()))};
}

}  // namespace feedrate::trainer::cuda
