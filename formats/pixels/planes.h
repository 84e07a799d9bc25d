#pragma once
// Converts three planes of one colour each (as in Caffe's Datum and CIFAR's archives) to
// interleaved pixels, and back. Stateless; any thread.

#include <cstddef>
#include <span>

namespace feedrate::formats {

/// Interleaves `count` pixels of three planes into `pixels`, which overlaps none of them.
using InterleavePlanes = void (*)(const std::byte* red, const std::byte* green,
                                  const std::byte* blue, std::size_t count, std::byte* pixels);

/// Those that this CPU can run, the fastest first; plain C++, the reference, last.
std::span<const InterleavePlanes> runnable_plane_interleavers();
inline InterleavePlanes plane_interleaver() { return runnable_plane_interleavers().front(); }

/// Takes `count` interleaved pixels apart.
using SeparatePlanes = void (*)(const std::byte* pixels, std::size_t count, std::byte* red,
                                std::byte* green, std::byte* blue);

/// As above.
std::span<const SeparatePlanes> runnable_plane_separators();
inline SeparatePlanes plane_separator() { return runnable_plane_separators().front(); }

}  // namespace feedrate::formats
