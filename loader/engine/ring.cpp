#include "loader/engine/ring.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "formats/base/error.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 62;  // far beyond any memory, far from 2^64

}  // namespace

Ring::Ring(unsigned depth, std::uint32_t batch, std::size_t image_bytes, unsigned runs_per_batch,
           PixelMemory& memory)
    : depth_(depth), image_bytes_(image_bytes), memory_(&memory) {
  const auto pixel_bytes = checked_multiply(image_bytes_, batch);
  const std::size_t label_bytes = round_up(batch * sizeof(std::int32_t), pixel_alignment);
  const auto total =
      pixel_bytes && *pixel_bytes < max_bytes
          ? checked_multiply(round_up(*pixel_bytes, pixel_alignment) + label_bytes, depth)
          : std::nullopt;
  if (!total)
    throw Error(join("loader: ", depth, " batches of ", batch, " images do not fit into memory"));
  total_bytes_ = *total;
  slots_ = std::make_unique<Slot[]>(depth);
  slab_ = memory.allocate(total_bytes_);
  for (unsigned i = 0; i < depth; ++i) {
    std::byte* start = slab_ + i * (total_bytes_ / depth);
    slots_[i].pixels = start;
    slots_[i].labels =
        reinterpret_cast<std::int32_t*>(start + round_up(*pixel_bytes, pixel_alignment));
    slots_[i].pending = runs_per_batch;
  }
}

Ring::~Ring() { memory_->release(slab_, total_bytes_); }

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
    }
    ++kept;
  }
  return kept;
}

}  // namespace feedrate::loader::detail
