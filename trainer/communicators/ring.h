#pragma once
// Sums and broadcasts over a ring of ranks.

#include <cstddef>
#include <span>
#include <vector>

#include "trainer/communicators/sockets.h"

namespace feedrate::trainer {

struct Ring {
  unsigned rank;
  unsigned ranks;
  const formats::Descriptor& next;
  const formats::Descriptor& previous;
};

/// Sums `values`, of which every rank has as many, in place: a reduce-scatter, in which each part
/// of the values travels once around the ring and every rank adds its own, then an all-gather, in
/// which the sums travel around it. All ranks get the same bits, in every run, and send less than
/// twice the values at any number of ranks. Throws Error when a neighbour is gone.
template <class T>
void ring_sum(std::span<T> values, const Ring& ring) {
  const std::size_t count = ring.ranks;
  const std::size_t self = ring.rank + 2 * count;  // so that no difference is negative
  const auto part = [&](std::size_t i) {
    const std::size_t begin = values.size() * (i % count) / count;
    return values.subspan(begin, values.size() * (i % count + 1) / count - begin);
  };
  std::vector<T> arrived(values.size() / count + 1);
  for (std::size_t step = 0; step + 1 < count; ++step) {
    const std::span<T> to = part(self - step - 1);
    const std::span<T> in = std::span(arrived).first(to.size());
    exchange(ring.next, std::as_bytes(part(self - step)), ring.previous,
             std::as_writable_bytes(in));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += in[i];
  }
  for (std::size_t step = 0; step + 1 < count; ++step) {
    exchange(ring.next, std::as_bytes(part(self - step + 1)), ring.previous,
             std::as_writable_bytes(part(self - step)));
  }
}

/// Sets `bytes`, of which every rank has as many, to those of rank 0: each rank passes them on to
/// the next one. Throws Error when a neighbour is gone.
inline void ring_broadcast(formats::MutableBytes bytes, const Ring& ring) {
  if (ring.rank != 0) receive_all(ring.previous, bytes);
  if (ring.rank + 1 != ring.ranks) send_all(ring.next, bytes);
}

}  // namespace feedrate::trainer
