#include "formats/codecs/packed/packed_blocks.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/base/processor.h"
#include "formats/codecs/packed/packed_head.h"

namespace feedrate::formats {
namespace {

int nibble(std::byte pair, unsigned which) {
  const int value = (std::to_integer<int>(pair) >> (4 * which)) & 15;
  return value - (value & 8) * 2;
}

const std::byte* unpack_one(const std::byte* at, std::int16_t* block) {
  std::fill_n(block, 64, std::int16_t{0});
  const BlockHead head(*at);
  if (!head.sound()) return nullptr;
  block[0] = head.mean(at + 1);
  at += 1 + head.mean_bytes();
  std::uint64_t which = head.which(at);
  if (which >> 63 != 0) return nullptr;
  at += head.which_bytes();
  const auto count = static_cast<std::size_t>(std::popcount(which));
  const std::byte* nibbles = at;
  const std::byte* follow = at + (count + 1) / 2;
  std::size_t followed = 0;
  if (head.wide()) {
    for (std::size_t i = 0; i < count; ++i) followed += nibble(nibbles[i / 2], i % 2) == 0;
  }
  const std::byte* high = follow + followed;
  for (std::size_t i = 0; which != 0; ++i, which &= which - 1) {
    int value = nibble(nibbles[i / 2], i % 2);
    if (value == 0) {
      value = head.wide() ? static_cast<std::int16_t>(std::to_integer<unsigned>(*follow) |
                                                      std::to_integer<unsigned>(*high++) << 8)
                          : static_cast<std::int8_t>(*follow);
      ++follow;
    }
    block[zigzag[std::countr_zero(which) + 1]] = static_cast<std::int16_t>(value);
  }
  return head.wide() ? high : follow;
}

const std::byte* unpack(const std::byte* at, std::size_t count, std::int16_t* const* blocks) {
  for (std::size_t i = 0; i < count && at != nullptr; ++i) at = unpack_one(at, blocks[i]);
  return at;
}

unsigned bytes_of_mean(int mean) {
  return mean == 0 ? 0 : mean == static_cast<std::int8_t>(mean) ? 1 : 2;
}

}  // namespace

const BlockUnpacking plain_block_unpacking = {"plain", unpack};

std::span<const BlockUnpacking* const> runnable_block_unpackings() {
  static const auto runnable = [] {
    std::vector<const BlockUnpacking*> all;
    if constexpr (built_for_x86) {
      using enum Instructions;
      if (processor_has({avx512bw, avx512vbmi, avx512vbmi2, bmi2})) {
        all.push_back(&avx512_block_unpacking);
      }
    }
    all.push_back(&plain_block_unpacking);
    return all;
  }();
  return runnable;
}

void pack_block(const std::int16_t* coefficients, Buffer& to) {
  std::uint64_t which = 0;
  std::byte nibbles[32] = {};
  std::int16_t follow[63];
  std::size_t count = 0, followed = 0;
  bool wide = false;
  for (unsigned i = 1; i < 64; ++i) {
    which |= std::uint64_t{coefficients[zigzag[i]] != 0} << (i - 1);
  }
  for (std::uint64_t rest = which; rest != 0; rest &= rest - 1) {
    const std::int16_t value = coefficients[zigzag[std::countr_zero(rest) + 1]];
    if (value >= -8 && value < 8) {
      nibbles[count / 2] |= static_cast<std::byte>((value & 15) << (4 * (count % 2)));
    } else {
      follow[followed++] = value;
      wide = wide || value != static_cast<std::int8_t>(value);
    }
    ++count;
  }
  const unsigned mean_bytes = bytes_of_mean(coefficients[0]);
  const auto which_bytes = static_cast<unsigned>(64 - std::countl_zero(which) + 7) / 8;
  std::byte packed[max_block_bytes];
  std::byte* end = packed;
  const auto add = [&](unsigned byte) { *end++ = static_cast<std::byte>(byte); };
  add(which_bytes | mean_bytes << 4 | (wide ? 64U : 0U));
  for (unsigned i = 0; i < mean_bytes; ++i) add(static_cast<unsigned>(coefficients[0]) >> (8 * i));
  for (unsigned i = 0; i < which_bytes; ++i) add(static_cast<unsigned>(which >> (8 * i)));
  end = std::copy_n(nibbles, (count + 1) / 2, end);
  for (std::size_t i = 0; i < followed; ++i) add(static_cast<unsigned>(follow[i]));
  for (std::size_t i = 0; wide && i < followed; ++i) add(static_cast<unsigned>(follow[i]) >> 8);
  append(to, {packed, end});
}

}  // namespace feedrate::formats
