#pragma once
// 64 bits that stand for many: to find what is equal, not to prove it (that is SHA-256's). Of n
// different things, two have one fingerprint with odds of about n²/2^65: 5e-8 for ImageNet.

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// XXH3 of `bytes`. Never 0, so that 0 can stand for nothing. Any thread.
std::uint64_t fingerprint(Bytes bytes, std::uint64_t seed = 0);

}  // namespace feedrate::formats
