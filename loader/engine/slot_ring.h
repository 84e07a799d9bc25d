#pragma once
// The slots: memory for `depth` batches, allocated and touched once, then reused. A slot whose
// batch is kept goes on with another block of memory.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "loader/bad.h"
#include "loader/batch.h"
#include "loader/engine/block_pool.h"

namespace feedrate::loader::detail {

/// Memory of one batch. Workers fill seats and count `pending` down; the consumer reads the slot
/// when it is 0.
struct alignas(64) Slot {
  std::atomic<std::uint32_t> pending{0};  // chunks not yet filled, and the mix after them
  BlockPool::Block block;                 // holds …
  std::byte* pixels = nullptr;
  std::int32_t* labels = nullptr;
  std::uint64_t* indices = nullptr;
  double own_share = 1;           // see Batch
  std::uint32_t failed_seat = 0;  // of `error`
  std::exception_ptr error;
  std::vector<Fault> faults;  // seats that were replaced, or have to be skipped

  bool filled() const { return pending.load() == 0; }
};

class Ring {
 public:
  /// Every slot waits for `pending` tasks. Throws Error when there is not enough memory.
  Ring(unsigned depth, std::uint32_t batch, std::size_t image_bytes, unsigned pending,
       PixelMemory& memory);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  unsigned depth() const { return depth_; }
  std::size_t image_bytes() const { return image_bytes_; }
  /// The slot of the batch of step `step`.
  Slot& slot(std::uint64_t step) { return slots_[step % depth_]; }
  const Slot& slot(std::uint64_t step) const { return slots_[step % depth_]; }
  /// Gives the slot other memory if somebody keeps its block. Throws Error, and changes nothing,
  /// when there is not enough. Consumer thread.
  void renew(Slot& slot);
  /// Keeps the error of the lowest seat, so that what next() throws does not depend on timing.
  /// Any thread.
  void fail(Slot& slot, std::uint32_t seat, std::exception_ptr error);
  /// Any thread.
  void add_faults(Slot& slot, std::span<Fault> faults);
  /// Removes the seats of the slot's faults from the first `count` seats. Returns how many are
  /// left. Consumer thread.
  std::uint32_t close_gaps(Slot& slot, std::uint32_t count) const;

 private:
  void attach(Slot& slot, BlockPool::Block block) const;

  unsigned depth_;
  std::size_t image_bytes_;
  std::size_t labels_at_ = 0;  // in a block, in bytes
  std::size_t indices_at_ = 0;
  std::shared_ptr<BlockPool> pool_;
  std::unique_ptr<Slot[]> slots_;
  std::mutex failures_mutex_;  // of errors and faults
};

}  // namespace feedrate::loader::detail
