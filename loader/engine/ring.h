#pragma once
// The slots: memory for `depth` batches, made and touched once, used again and again.

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

namespace feedrate::loader::detail {

/// Memory of one batch. Workers fill seats and count runs down; the consumer reads when none is
/// left.
struct alignas(64) Slot {
  std::atomic<std::uint32_t> pending{0};  // runs not yet filled
  std::byte* pixels = nullptr;
  std::int32_t* labels = nullptr;
  std::uint32_t failed_seat = 0;  // of `error`; both read when nothing is pending
  std::exception_ptr error;
  std::vector<Fault> faults;  // seats that were replaced or are to be skipped

  bool filled() const { return pending.load() == 0; }
};

class Ring {
 public:
  Ring(unsigned depth, std::uint32_t batch, std::size_t image_bytes, unsigned runs_per_batch,
       PixelMemory& memory);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  unsigned depth() const { return depth_; }
  std::size_t image_bytes() const { return image_bytes_; }
  /// The slot of the batch given `step`-th.
  Slot& slot(std::uint64_t step) { return slots_[step % depth_]; }
  /// Keeps the error of the first seat, so that what next() throws does not depend on timing.
  void fail(Slot& slot, std::uint32_t seat, std::exception_ptr error);
  void add_faults(Slot& slot, std::span<Fault> faults);
  /// Moves the other seats together over those of the slot's faults. Returns how many are left.
  std::uint32_t close_gaps(Slot& slot, std::uint32_t count) const;

 private:
  unsigned depth_;
  std::size_t image_bytes_;
  std::size_t total_bytes_;
  PixelMemory* memory_;
  std::byte* slab_;
  std::unique_ptr<Slot[]> slots_;
  std::mutex failures_;  // of errors and faults
};

}  // namespace feedrate::loader::detail
