// tf.Example, without a record around it.

#include "tests/fuzz/examples.h"

namespace feedrate::fuzz {
using namespace formats;

std::vector<Buffer> seeds() { return sound_examples(); }

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feedrate::fuzz::check_example(feedrate::fuzz::fenced(data, size));
  return 0;
}
