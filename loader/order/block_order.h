#pragma once
// The order of an epoch that may keep neighbours together, so that they are read together.

#include <cstdint>
#include <optional>

#include "loader/order/order.h"

namespace feedrate::loader {

/// How an epoch is shuffled.
struct Shuffling {
  bool shuffle = true;
  std::uint64_t window = 0;  // as in Order; with blocks 0: of usual_blocks_together
  std::uint64_t block = 0;   // neighbours that stay together; 0: none do
};

/// Blocks whose samples are shuffled together where no window is given.
inline constexpr std::uint64_t usual_blocks_together = 16;

/// Without blocks an Order. With blocks of B: samples 0 … B-1 are the first block, and so on; the last may be
/// shorter. An Order of seed and epoch permutes the blocks, which gives each sample a place; another one
/// shuffles the places within windows. So a window holds samples of about window / B + 1 blocks from
/// anywhere, and all samples of a block that is no larger come within two windows. Every index comes once. A pure function, in
/// constant time. Any thread. The same on every machine.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, const Shuffling& how);
  /// `position` < size().
  std::uint64_t index(std::uint64_t position) const;
  std::uint64_t size() const { return places_.size(); }

 private:
  Order places_;
  std::optional<Order> blocks_;
  std::uint64_t block_ = 0;
  std::uint64_t short_begin_ = 0;  // the place where the last block begins, which may be shorter
  std::uint64_t short_size_ = 0;
};

}  // namespace feedrate::loader
