#include "loader/augment/tone_loops_each.h"

namespace feedrate::loader {

FEEDRATE_TONE_LOOPS(__attribute__((target("avx2"))), avx2)

}  // namespace feedrate::loader
