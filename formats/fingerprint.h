#pragma once
// 64 bits that stand for many: to find what is equal, not to prove it (that is SHA-256's). Of n
// different things, two have one fingerprint with odds of about n²/2^65: 5e-8 for ImageNet.

#include "formats/bytes.h"
#include "formats/random.h"

namespace feedrate {

/// Never 0, so that 0 can stand for nothing. Any thread.
inline std::uint64_t fingerprint(Bytes bytes, std::uint64_t seed = 0) {
  // 16 bytes a step: both halves of a 128-bit product, which every bit of both factors moves.
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  constexpr std::uint64_t secret = 0x9e3779b97f4a7c15U;  // odd bits of the golden ratio
  std::uint64_t state = mix64(seed ^ mix64(bytes.size()));
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) {
    state = fold(load_le<std::uint64_t>(bytes.data()) ^ secret,
                 load_le<std::uint64_t>(bytes.data() + 8) ^ state);
  }
  std::uint64_t rest[2] = {0, 0};
  if (!bytes.empty()) std::memcpy(rest, bytes.data(), bytes.size());
  state = mix64(fold(rest[0] ^ secret, rest[1] ^ state));
  return state == 0 ? 1 : state;
}

}  // namespace feedrate
