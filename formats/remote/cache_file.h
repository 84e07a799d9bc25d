#pragma once
// How an object of a cache lies in its file: see formats/remote/cache.h.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/remote/cache.h"

namespace feedrate::formats {

inline constexpr std::string_view object_extension = ".object";
/// A page of text in front of the blocks: these words, URL, version and size, a line each.
inline constexpr std::uint64_t head_bytes = 4096;
inline constexpr std::string_view head_words = "feedrate cache 1";

/// Of a file with so many blocks, as stat() counts them.
inline std::uint64_t bytes_on_disk(std::int64_t blocks) {
  return static_cast<std::uint64_t>(blocks) * 512;
}

/// Whether an error of the system says that a file may be read at most, or that its disk is full.
bool forbids_writing(int problem);

/// URL, version and size; empty where the file has no head.
KeptObject read_head(const std::filesystem::path& file);

}  // namespace feedrate::formats
