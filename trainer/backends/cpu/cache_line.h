#pragma once
// A cache line: what a session's memory starts on, and what two threads never share.

#include <cstddef>
#include <cstdint>

namespace feedrate::trainer::cpu {

constexpr std::size_t cache_line = 64;  // bytes
constexpr std::int64_t line_floats = cache_line / sizeof(float);

}  // namespace feedrate::trainer::cpu
