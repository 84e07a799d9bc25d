#include "loader/engine/slot_ring.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "formats/base/error.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 60;  // far beyond any memory, far from 2^64

}  // namespace

Ring::Ring(unsigned depth, std::uint32_t batch, std::size_t image_bytes, unsigned pending,
           PixelMemory& memory)
    : depth_(depth), image_bytes_(image_bytes) {
  const auto pixel_bytes = checked_multiply(image_bytes_, batch);
  if (!pixel_bytes || *pixel_bytes >= max_bytes / depth)
    throw Error(join("loader: ", depth, " batches of ", batch, " images do not fit into memory"));
  labels_at_ = round_up(*pixel_bytes, pixel_alignment);
  indices_at_ = labels_at_ + round_up(batch * sizeof(std::int32_t), pixel_alignment);
  pool_ = BlockPool::make(indices_at_ + batch * sizeof(std::uint64_t), depth, memory);
  slots_ = std::make_unique<Slot[]>(depth);
  for (unsigned i = 0; i < depth; ++i) {
    attach(slots_[i], pool_->take());
    slots_[i].pending = pending;
  }
}

Ring::~Ring() { pool_->close(); }

void Ring::attach(Slot& slot, BlockPool::Block block) const {
  slot.block = std::move(block);
  slot.pixels = slot.block.get();
  slot.labels = reinterpret_cast<std::int32_t*>(slot.pixels + labels_at_);
  slot.indices = reinterpret_cast<std::uint64_t*>(slot.pixels + indices_at_);
}

void Ring::renew(Slot& slot) {
  if (slot.block.use_count() > 1) return attach(slot, pool_->take());
  // What the last keeper read happened before workers write.
  std::atomic_thread_fence(std::memory_order_acquire);
}

void Ring::fail(Slot& slot, std::uint32_t seat, std::exception_ptr error) {
  const std::lock_guard lock(failures_mutex_);
  if (slot.error && slot.failed_seat <= seat) return;
  slot.failed_seat = seat;
  slot.error = std::move(error);
}

void Ring::add_faults(Slot& slot, std::span<Fault> faults) {
  const std::lock_guard lock(failures_mutex_);
  slot.faults.insert(slot.faults.end(), std::move_iterator(faults.begin()),
                     std::move_iterator(faults.end()));
}

std::uint32_t Ring::close_gaps(Slot& slot, std::uint32_t count) const {
  std::uint32_t kept = 0;
  for (std::uint32_t seat = 0; seat < count; ++seat) {
    if (std::ranges::find(slot.faults, seat, &Fault::seat) != slot.faults.end()) continue;
    if (kept != seat) {
      std::memcpy(slot.pixels + kept * image_bytes_, slot.pixels + seat * image_bytes_,
                  image_bytes_);
      slot.labels[kept] = slot.labels[seat];
      slot.indices[kept] = slot.indices[seat];
    }
    ++kept;
  }
  return kept;
}

}  // namespace feedrate::loader::detail
