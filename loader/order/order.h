#pragma once
// The order of an epoch: position → index, a pure function of (seed, epoch). No state but its keys.

#include <array>
#include <cstdint>

namespace feedrate::loader {

/// A bijection of [0, size): every index once an epoch, in an order that looks random, without an
/// array (a keyed Feistel network with cycle walking). `shuffle == false` is the identity.
///
/// With a `window` indices stay near their positions, for media that read best in order: the epoch
/// is cut into windows of so many neighbours, at places that differ from epoch to epoch, and each
/// is shuffled in itself. So |index - position| < window. 0: one window, the whole epoch.
/// Any thread. The same on every machine.
class Order {
 public:
  Order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, bool shuffle,
        std::uint64_t window = 0);
  /// `position` < size().
  std::uint64_t index(std::uint64_t position) const;
  std::uint64_t size() const { return size_; }

 private:
  static constexpr unsigned rounds = 4;  // each changes both halves
  std::uint64_t permute(std::uint64_t value, std::uint64_t tweak) const;
  std::uint64_t walk(std::uint64_t value, std::uint64_t size, std::uint64_t tweak) const;

  std::uint64_t size_;
  bool shuffle_;
  std::uint64_t window_;     // 0: the whole epoch is one
  std::uint64_t first_end_;  // where the first window ends
  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, std::size_t{4} * rounds> keys_;
};

}  // namespace feedrate::loader
