#pragma once
// Tells files of one size apart without reading all of them.

#include <cstdint>
#include <filesystem>

namespace feedrate::formats {

/// The fingerprint of 64 blocks of 4 KiB all over the file, its first and its last among them; of the
/// whole file where that is no more; and its size. 0 where it cannot be read. Any thread.
std::uint64_t file_probe(const std::filesystem::path& file);

}  // namespace feedrate::formats
