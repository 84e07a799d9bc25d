#include "loader/order/block_order.h"

#include <limits>

#include "formats/base/random.h"

namespace feedrate::loader {
namespace {

constexpr std::uint64_t of_blocks = 0xb10cU;  // makes another order of the same seed

std::uint64_t window_of(const Shuffling& how) {
  if (how.block == 0 || how.window != 0) return how.window;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / usual_blocks_together;
  return how.block > most ? 0 : how.block * usual_blocks_together;
}

}  // namespace

BlockOrder::BlockOrder(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch,
                       const Shuffling& how)
    : places_(size, seed, epoch, how.shuffle, window_of(how)) {
  if (!how.shuffle || how.block == 0 || how.block >= size) return;
  block_ = how.block;
  const std::uint64_t count = (size - 1) / block_ + 1;
  blocks_.emplace(count, formats::mix64(seed ^ of_blocks), epoch, true);
  short_begin_ = blocks_->position(count - 1) * block_;
  short_size_ = size - (count - 1) * block_;
}

std::uint64_t BlockOrder::index(std::uint64_t position) const {
  const std::uint64_t place = places_.index(position);
  if (!blocks_) return place;
  const std::uint64_t short_end = short_begin_ + short_size_;
  if (place >= short_begin_ && place < short_end) {
    return blocks_->index(short_begin_ / block_) * block_ + (place - short_begin_);
  }
  const std::uint64_t whole = place < short_begin_ ? place : place + (block_ - short_size_);
  return blocks_->index(whole / block_) * block_ + whole % block_;
}

}  // namespace feedrate::loader
