#include "formats/base/processor.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "formats/base/error.h"
#if FEEDRATE_X86
#include <cpuid.h>
#endif

namespace feedrate::formats {
namespace {

bool is_present(Instructions which) {
#if FEEDRATE_X86
  switch (which) {
    case Instructions::ssse3:
      return __builtin_cpu_supports("ssse3") != 0;
    case Instructions::avx:
      return __builtin_cpu_supports("avx") != 0;
    case Instructions::avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case Instructions::bmi2:
      return __builtin_cpu_supports("bmi2") != 0;
    case Instructions::f16c: {  // which Clang 14's __builtin_cpu_supports does not know
      unsigned a = 0, b = 0, c = 0, d = 0;
      return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    }
    case Instructions::avx512bw:
      return __builtin_cpu_supports("avx512bw") != 0;
    case Instructions::avx512vl:
      return __builtin_cpu_supports("avx512vl") != 0;
    case Instructions::avx512vbmi:
      return __builtin_cpu_supports("avx512vbmi") != 0;
    case Instructions::avx512vbmi2:
      return __builtin_cpu_supports("avx512vbmi2") != 0;
    case Instructions::avx512vnni:
      return __builtin_cpu_supports("avx512vnni") != 0;
  }
#endif
  (void)which;
  return false;
}

bool is_allowed(Instructions which) {
  const char* const limit = std::getenv("FEEDRATE_INSTRUCTIONS");
  if (limit == nullptr) return true;
  const std::string_view most = limit;
  if (most == "baseline") return false;
  if (most == "avx2") return which < Instructions::avx512bw;
  throw Error(join("FEEDRATE_INSTRUCTIONS: expected baseline or avx2, found '", most, "'"));
}

}  // namespace

bool processor_has(std::initializer_list<Instructions> wanted) {
  return std::ranges::all_of(
      wanted, [](Instructions which) { return is_present(which) && is_allowed(which); });
}

}  // namespace feedrate::formats
