#include "loader/augment/tone_loops.h"

#include <vector>

#include "formats/base/processor.h"
#include "loader/augment/tone_loops_each.h"

namespace feedrate::loader {
using namespace formats;

FEEDRATE_TONE_LOOPS(, plain)

std::span<const ToneLoops> runnable_tone_loops() {
  static const auto runnable = [] {
    std::vector<ToneLoops> all;
    if constexpr (built_for_x86) {
      if (processor_has({Instructions::avx2})) all.push_back(avx2_tone_loops);
    }
    all.push_back(plain_tone_loops);
    return all;
  }();
  return runnable;
}

}  // namespace feedrate::loader
