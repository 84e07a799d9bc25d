#pragma once
// What mixers share: partners in a batch, whatever its type. Stateless.

#include <algorithm>
#include <cstddef>
#include <span>

#include "loader/batch.h"

namespace feedrate::loader {

/// Calls `mix(image, partner)` with the bytes of every image and of its partner as it was.
/// `scratch` holds an image.
template <class Mix>
void each_with_partner(const Batch& batch, std::span<std::byte> scratch, Mix mix) {
  const std::size_t size = batch.shape.bytes() * bytes_of(batch.type);
  std::byte* const first = batch.bytes().data();
  // From the last on: the one before is still as it was. The first one's partner is not.
  std::byte* const last = first + (batch.count - 1) * size;
  std::copy_n(last, size, scratch.data());
  for (std::byte* image = last; image != first; image -= size)
    mix(image, static_cast<const std::byte*>(image - size));
  mix(first, static_cast<const std::byte*>(scratch.data()));
}

}  // namespace feedrate::loader
