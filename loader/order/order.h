#pragma once
// The order of an epoch: position → index, a pure function of (seed, epoch).

#include <array>
#include <cstdint>

namespace feedrate::loader {

/// A pseudo-random permutation of [0, size), computed without an array: a keyed Feistel network
/// with cycle walking. Every index comes once an epoch. Without `shuffle` it is the identity.
///
/// A `window` keeps indices near their positions, for media that read best in order: the epoch is
/// cut into windows of that many neighbours, at places that change with the epoch, and each window
/// is shuffled by itself, so that |index - position| < window. 0: one window, the whole epoch. Any
/// thread. The same on every machine.
///
/// position() is its inverse where there is no window.
class Order {
 public:
  Order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, bool shuffle,
        std::uint64_t window = 0);
  /// `position` < size().
  std::uint64_t index(std::uint64_t position) const;
  /// Where the index comes, without a window.
  std::uint64_t position(std::uint64_t index) const;
  std::uint64_t size() const { return size_; }

 private:
  static constexpr unsigned rounds = 4;  // each changes both halves
  std::uint64_t permute(std::uint64_t value, std::uint64_t tweak) const;
  std::uint64_t permute_back(std::uint64_t value) const;
  std::uint64_t walk(std::uint64_t value, std::uint64_t size, std::uint64_t tweak) const;

  std::uint64_t size_;
  bool shuffle_;
  std::uint64_t window_;     // 0: the whole epoch is one window
  std::uint64_t first_end_;  // where the first window ends
  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, std::size_t{4} * rounds> keys_;
};

}  // namespace feedrate::loader
