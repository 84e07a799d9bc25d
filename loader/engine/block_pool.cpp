#include "loader/engine/block_pool.h"

#include <utility>

namespace feedrate::loader::detail {

std::shared_ptr<BlockPool> BlockPool::make(std::size_t bytes, std::size_t spare,
                                           PixelMemory& memory) {
  return std::shared_ptr<BlockPool>(new BlockPool(bytes, spare, memory));
}

BlockPool::BlockPool(std::size_t bytes, std::size_t spare, PixelMemory& memory)
    : bytes_(bytes), memory_(memory), spare_(spare) {
  idle_.reserve(spare);
}

BlockPool::~BlockPool() { close(); }

BlockPool::Block BlockPool::take() {
  std::byte* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      block = idle_.back();
      idle_.pop_back();
    }
  }
  if (block == nullptr) block = memory_.allocate(bytes_);
  return {block, [pool = shared_from_this()](std::byte* dropped) { pool->give_back(dropped); }};
}

void BlockPool::give_back(std::byte* block) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < spare_) {
      idle_.push_back(block);
      return;
    }
  }
  memory_.release(block, bytes_);
}

void BlockPool::close() noexcept {
  std::vector<std::byte*> idle;
  {
    const std::lock_guard lock(mutex_);
    spare_ = 0;
    idle = std::exchange(idle_, {});
  }
  for (std::byte* block : idle) memory_.release(block, bytes_);
}

}  // namespace feedrate::loader::detail
