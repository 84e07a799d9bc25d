#pragma once
// The fast way of first_unsound().

#include "formats/codecs/packed/packed_blocks.h"

namespace feedrate::formats {

/// Whether all of at most runs_in_turn runs are sound; does not tell which is not. Behind each,
/// block_slack bytes may be read. Needs AVX2 and BMI2.
bool all_sound_avx2(std::span<const PackedRun> runs);

}  // namespace feedrate::formats
