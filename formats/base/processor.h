#pragma once
// Which instructions may be used. A file of instructions that not every processor has is named after
// them (resize_passes_avx2.cpp), and tools/cmake/instructions.cmake compiles it for its architecture
// alone. The table of ways in the file beside it asks here before it lists such a way.

#include <initializer_list>

namespace feedrate::formats {

/// Whether this build has the files of x86-64.
inline constexpr bool built_for_x86 = FEEDRATE_X86 != 0;

/// Beyond those that every x86-64 has.
enum class Instructions {
  ssse3,
  avx,
  avx2,
  bmi2,
  f16c,
  avx512bw,
  avx512vl,
  avx512vbmi,
  avx512vbmi2,
  avx512vnni
};

/// Whether this processor has them all, and may use them: the environment variable
/// FEEDRATE_INSTRUCTIONS, where set, allows no more than `baseline` or `avx2`. With any other text,
/// this throws. Cheap only when the result is kept.
bool processor_has(std::initializer_list<Instructions> wanted);

}  // namespace feedrate::formats
