#pragma once
// Memory of slots in blocks of one size, each shared by its slot and by who keeps a batch.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "loader/batch.h"

namespace feedrate::loader::detail {

/// A block whose last owner drops it is taken again, or returns to the PixelMemory when the pool is
/// closed or has enough. Blocks may outlive the pool's owner; the PixelMemory outlives them. Any
/// thread.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  using Block = std::shared_ptr<std::byte>;

  /// Blocks of `bytes` bytes. Keeps up to `spare` that nobody owns.
  static std::shared_ptr<BlockPool> make(std::size_t bytes, std::size_t spare, PixelMemory& memory);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Throws Error when there is not enough memory.
  Block take();
  /// Frees what nobody owns, now and from now on.
  void close() noexcept;

 private:
  BlockPool(std::size_t bytes, std::size_t spare, PixelMemory& memory);
  void give_back(std::byte* block) noexcept;

  const std::size_t bytes_;
  PixelMemory& memory_;
  std::mutex mutex_;
  std::size_t spare_;             // 0: closed
  std::vector<std::byte*> idle_;  // has room for `spare_`
};

}  // namespace feedrate::loader::detail
