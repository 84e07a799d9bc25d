#pragma once
// Three planes of one colour each (as Caffe's Datum and CIFAR's archives hold them) to interleaved
// pixels. Stateless; any thread.

#include <cstddef>
#include <span>

namespace feedrate::formats {

/// `count` pixels from three planes to `pixels`, which overlaps none of them.
using InterleavePlanes = void (*)(const std::byte* red, const std::byte* green,
                                  const std::byte* blue, std::size_t count, std::byte* pixels);

/// Those that this CPU can run, the fastest first, plain C++ last: the referee.
std::span<const InterleavePlanes> runnable_plane_interleavers();
inline InterleavePlanes plane_interleaver() { return runnable_plane_interleavers().front(); }

}  // namespace feedrate::formats
