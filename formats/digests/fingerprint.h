#pragma once
// 64-bit fingerprints: to find equal things, not to prove that they are (SHA-256 does that). Among
// n different things, two share a fingerprint with a probability of about n²/2^65: 5e-8 for
// ImageNet.

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// XXH3 of `bytes`. Never 0, so 0 can mean "none". Any thread.
std::uint64_t fingerprint(Bytes bytes, std::uint64_t seed = 0);

}  // namespace feedrate::formats
