#include "loader/order/order.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "formats/base/random.h"

// Why not a shuffled array? Measured on one core with -O3, for 60,000 to 14 million samples: the
// network takes 10 to 70 ns an index, about 1 % of the time of the fastest sample. An array of
// 32-bit indices takes 3 to 52 ns an index to build and 0.1 to 6 ns to read, but one thread builds
// it while all others wait: 20 ms (1.28 million) to 730 ms (14 million) at each epoch's start and
// each resume.

namespace feedrate::loader {
using namespace formats;

namespace {

// Folds the 128-bit product of two keyed words: two instructions, every output bit a function of
// every input bit.
std::uint64_t round_function(std::uint64_t half, std::uint64_t add, std::uint64_t multiply) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(half ^ add) * multiply;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Halves of one or two bits mix poorly. From 64 values on, all orders of a small dataset are
// equally likely.
constexpr unsigned min_bits = 6;

// Where the first window ends. It changes with the epoch, so that no window boundary separates the
// same two neighbours in every epoch.
std::uint64_t first_window_end(std::uint64_t key, std::uint64_t size, std::uint64_t window) {
  return std::min(size, 1 + mix64(key) % window);
}

}  // namespace

// The network permutes the smallest power of two that holds `size` (or the window). Its two halves
// may differ by a bit. So a walk takes fewer than two steps on average; more below 32 samples and
// in the epoch's first and last windows, which may be short.
Order::Order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, bool shuffle,
             std::uint64_t window)
    : size_(size),
      shuffle_(shuffle && size > 1 && window != 1),
      window_(window < size ? window : 0),
      first_end_(size),
      keys_{} {
  const std::uint64_t max_value = (window_ != 0 ? window_ : size) - 1;
  const unsigned bits =
      shuffle_ ? std::max(static_cast<unsigned>(std::bit_width(max_value)), min_bits) : 0;
  low_bits_ = (bits + 1) / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits / 2)) - 1;
  const std::uint64_t key = mix64(mix64(seed) + mix64(~epoch));
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    // Multipliers are odd, and so invertible: they lose no bit of the half.
    keys_[i] = random_bits(key, i) | (i % 2);
  }
  if (window_ != 0) first_end_ = first_window_end(key, size, window_);
}

std::uint64_t Order::permute(std::uint64_t value, std::uint64_t tweak) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (std::size_t k = 0; k < keys_.size(); k += 4) {
    high ^= round_function(low ^ tweak, keys_[k], keys_[k + 1]) & high_mask_;
    low ^= round_function(high ^ tweak, keys_[k + 2], keys_[k + 3]) & low_mask_;
  }
  return high << low_bits_ | low;
}

// The same rounds from the last to the first: each changes one half by what the other one gives.
std::uint64_t Order::permute_back(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (std::size_t k = keys_.size(); k != 0; k -= 4) {
    low ^= round_function(high, keys_[k - 2], keys_[k - 1]) & low_mask_;
    high ^= round_function(low, keys_[k - 4], keys_[k - 3]) & high_mask_;
  }
  return high << low_bits_ | low;
}

// Cycle walking: a value beyond the size is permuted again until it falls inside. That ends, since
// the cycle returns to where it began.
std::uint64_t Order::walk(std::uint64_t value, std::uint64_t size, std::uint64_t tweak) const {
  value = permute(value, tweak);
  while (value >= size) value = permute(value, tweak);
  return value;
}

std::uint64_t Order::index(std::uint64_t position) const {
  assert(position < size_);
  if (!shuffle_) return position;
  if (position < first_end_) return walk(position, first_end_, 0);
  const std::uint64_t number = (position - first_end_) / window_;
  const std::uint64_t start = first_end_ + number * window_;
  return start + walk(position - start, std::min(window_, size_ - start), mix64(number));
}

std::uint64_t Order::position(std::uint64_t index) const {
  assert(index < size_ && window_ == 0);
  if (!shuffle_) return index;
  std::uint64_t value = permute_back(index);
  while (value >= size_) value = permute_back(value);
  return value;
}

}  // namespace feedrate::loader
