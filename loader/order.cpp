#include "loader/order.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "formats/random.h"

namespace feedrate {
namespace {

// Folds the 128-bit product of two keyed words: two instructions, every output bit a function of
// every input bit.
std::uint64_t round_function(std::uint64_t half, std::uint64_t add, std::uint64_t multiply) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(half ^ add) * multiply;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Halves of a bit or two mix poorly; among 64 values orders of a few are equally likely.
constexpr unsigned fewest_bits = 6;

}  // namespace

// The network permutes the smallest power of two that holds `size`, split into two halves that may
// differ by a bit, so a walk takes less than two steps on average (more below 32 samples).
Order::Order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, bool shuffle)
    : size_(size), shuffle_(shuffle && size > 1), keys_{} {
  const auto width = static_cast<unsigned>(std::bit_width(size - 1));
  const unsigned bits = shuffle_ ? std::max(width, fewest_bits) : 0;
  low_bits_ = (bits + 1) / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits / 2)) - 1;
  const std::uint64_t key = mix64(mix64(seed) + mix64(~epoch));
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    // An odd multiplier loses nothing of the half it multiplies.
    keys_[i] = random_bits(key, i) | (i % 2);
  }
}

std::uint64_t Order::permute(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (std::size_t k = 0; k < keys_.size(); k += 4) {
    high ^= round_function(low, keys_[k], keys_[k + 1]) & high_mask_;
    low ^= round_function(high, keys_[k + 2], keys_[k + 3]) & low_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t Order::index(std::uint64_t position) const {
  assert(position < size_);
  if (!shuffle_) return position;
  // Values beyond the size lead back into it: the permutation's cycle returns to where it began.
  std::uint64_t value = permute(position);
  while (value >= size_) value = permute(value);
  return value;
}

}  // namespace feedrate
