#pragma once
// The first bytes of a block of a packed JPEG, as packed_blocks.h draws it, shared by all
// unpackers, on host and device. 16 bytes must be readable.

#include "formats/base/bytes.h"

namespace feedrate::formats {

class BlockHead {
 public:
  constexpr explicit BlockHead(std::byte head) : head_(static_cast<unsigned>(head)) {}

  constexpr bool sound() const { return head_ < 128 && mean_bytes() < 3 && which_bytes() < 9; }
  constexpr bool wide() const { return head_ >= 64; }
  constexpr unsigned mean_bytes() const { return head_ >> 4 & 3; }
  constexpr unsigned which_bytes() const { return head_ & 15; }
  /// The DC coefficient, of the bytes at `at`. Only for a valid head, like the next function.
  std::int16_t mean(const std::byte* at) const {
    const unsigned unused = 32 - 8 * mean_bytes();
    const auto bytes = std::uint64_t{load_le<std::uint16_t>(at)} << unused;
    return static_cast<std::int16_t>(static_cast<std::int32_t>(bytes) >> (unused & 31));
  }
  std::uint64_t which(const std::byte* at) const {
    const unsigned bits = 8 * which_bytes();
    return bits == 0 ? 0 : load_le<std::uint64_t>(at) << (64 - bits) >> (64 - bits);
  }

 private:
  unsigned head_;
};

}  // namespace feedrate::formats
