#include "converters/synths/made_images.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "formats/base/stop.h"

namespace feedrate::converters {
using namespace formats;

void MadeImages::make(MadeSplit split, std::uint64_t first, std::uint64_t last, const Draw& draw,
                      const Take& take) {
  constexpr std::uint64_t block_images = 256;  // in memory at once
  std::vector<Buffer> block(block_images);
  while (first < last) {
    throw_if_stop_requested();
    const std::uint64_t size = std::min(block_images, last - first);
    oneapi::tbb::parallel_for(std::uint64_t{0}, size, [&](std::uint64_t i) {
      block[i] = draw(first + i, draws(split, first + i));
    });
    for (std::uint64_t i = 0; i < size; ++i) take(first + i, block[i]);
    first += size;
    done_ += size;
    if (options_.progress) options_.progress(done_, options_.images + test_);
  }
}

}  // namespace feedrate::converters
