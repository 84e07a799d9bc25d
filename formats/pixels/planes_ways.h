#pragma once
// The ways that the lists of planes.h have. The fast ones leave the last pixels to the plain ones.

#include "formats/pixels/planes.h"

namespace feedrate::formats {

void plainly_interleave_planes(const std::byte* red, const std::byte* green, const std::byte* blue,
                               std::size_t count, std::byte* pixels);
void interleave_planes_avx2(const std::byte* red, const std::byte* green, const std::byte* blue,
                            std::size_t count, std::byte* pixels);
/// With VBMI.
void interleave_planes_avx512(const std::byte* red, const std::byte* green, const std::byte* blue,
                              std::size_t count, std::byte* pixels);

void plainly_separate_planes(const std::byte* pixels, std::size_t count, std::byte* red,
                             std::byte* green, std::byte* blue);
void separate_planes_avx2(const std::byte* pixels, std::size_t count, std::byte* red,
                          std::byte* green, std::byte* blue);

}  // namespace feedrate::formats
