#include "trainer/backends/cuda/products/random_values.cuh"

#include <algorithm>
#include <vector>

#include "formats/base/random.h"

namespace feedrate::trainer::cuda {
using namespace formats;

void fill_randomly(const Context& context, ValueType type, std::uint64_t seed,
                   const DeviceMemory& memory) {
  // They repeat after a prime number: after a power of two every few pixels would be the same, and
  // what rounding them loses would add up.
  constexpr std::size_t max_values = (std::size_t{1} << 18) - 5;
  with_type(type, [&](auto value) {
    using T = decltype(value);
    std::vector<T> some(std::min(max_values, memory.bytes() / sizeof(T)));
    for (std::size_t i = 0; i < some.size(); ++i) {
      some[i] = static_cast<T>(2 * unit_float(random_bits(seed, i)) - 1);
    }
    std::size_t done = some.size() * sizeof(T);
    check(cudaMemcpyAsync(memory.data(), some.data(), done, cudaMemcpyHostToDevice,
                          context.compute()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(context.compute()), "cudaStreamSynchronize");
    for (; done < memory.bytes(); done *= 2) {
      check(cudaMemcpyAsync(memory.data() + done, memory.data(),
                            std::min(done, memory.bytes() - done), cudaMemcpyDeviceToDevice,
                            context.compute()),
            "cudaMemcpyAsync");
    }
  });
  check(cudaStreamSynchronize(context.compute()), "cudaStreamSynchronize");
}

}  // namespace feedrate::trainer::cuda
