#pragma once
// Offsets in a file, one for each of its samples, in little memory: an index is all that an open
// dataset keeps for a sample.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A list of numbers below 2^48, more than a process can map: 4 bytes each if all are below 2^32,
/// otherwise 6. Any thread may read.
class Offsets {
 public:
  Offsets() = default;
  /// For numbers up to `max`, with memory for `count` of them.
  explicit Offsets(std::uint64_t max, std::size_t count = 0)
      : wide_(max > std::numeric_limits<std::uint32_t>::max()) {
    low_.reserve(count);
    if (wide_) high_.reserve(count);
  }

  void push_back(std::uint64_t number) {
    assert(number >> (wide_ ? 48 : 32) == 0);
    low_.push_back(static_cast<std::uint32_t>(number));
    if (wide_) high_.push_back(static_cast<std::uint16_t>(number >> 32));
  }
  std::uint64_t operator[](std::size_t i) const {
    return low_[i] | (wide_ ? std::uint64_t{high_[i]} << 32 : 0);
  }
  std::uint64_t front() const { return (*this)[0]; }
  std::uint64_t back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return low_.size(); }
  bool empty() const { return low_.empty(); }

  /// Sorts by `less(a, b)`, a total order; where it is sorted already, without more memory.
  template <class Less>
  void sort(Less less) {
    const auto at = [this](std::size_t i) { return (*this)[i]; };
    std::size_t sorted = 1;
    while (sorted < size() && !less(at(sorted), at(sorted - 1))) ++sorted;
    if (sorted >= size()) return;
    if (!wide_) return std::sort(low_.begin(), low_.end(), less);
    std::vector<std::uint64_t> all;
    all.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) all.push_back(at(i));
    std::sort(all.begin(), all.end(), less);
    low_.clear();
    high_.clear();
    for (const std::uint64_t number : all) push_back(number);
  }

  /// Starts to bring the number into the processor's cache.
  void prefetch(std::size_t i) const {
    __builtin_prefetch(low_.data() + i);
    if (wide_) __builtin_prefetch(high_.data() + i);
  }

 private:
  bool wide_ = false;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint16_t> high_;  // empty unless wide
};

/// Starts to bring the beginning of the sample at `offset` into the processor's cache; the hardware
/// follows once its reading is under way.
inline void prefetch_start(Bytes file, std::uint64_t offset) {
  constexpr std::uint64_t lines = 4;
  const std::uint64_t end = std::min<std::uint64_t>(file.size(), offset + lines * cache_line);
  for (std::uint64_t at = offset; at < end; at += cache_line) __builtin_prefetch(file.data() + at);
}

}  // namespace feedrate::formats
