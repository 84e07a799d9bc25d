#pragma once
// NumPy's .npy: one array of fp32, little-endian, in C order.

#include <cstdint>
#include <string>
#include <vector>

namespace feedrate::tools {

/// The header (version 1.0) that precedes the values. Its length is a multiple of 64.
std::string npy_header(const std::vector<std::uint64_t>& shape);

}  // namespace feedrate::tools
