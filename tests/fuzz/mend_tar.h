#pragma once
// For mutated tars: fixes the checksum of every header.

#include <array>
#include <cstdio>

#include "formats/io/tar_format.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

inline void mend_tar(MutableBytes tar) {
  for (std::size_t at = 0; tar.size() - at >= tar_block;) {
    std::byte* header = tar.data() + at;
    if (header[0] == std::byte{0}) return;
    std::array<char, tar_field::checksum.size + 1> text{};
    std::snprintf(text.data(), text.size(), "%06o%c ", tar_checksum(header), '\0');
    std::memcpy(header + tar_field::checksum.offset, text.data(), tar_field::checksum.size);
    const auto size = as_text({header + tar_field::size.offset, tar_field::size.size});
    std::uint64_t bytes = 0;
    for (const char digit : size.substr(0, 11)) {
      bytes = bytes * 8 + static_cast<std::uint64_t>(digit & 7);
    }
    if (tar_padded(bytes) > tar.size() - at - tar_block) return;
    at += tar_block + tar_padded(bytes);
  }
}

}  // namespace feedrate::fuzz
