#pragma once
// Pages of memory, which the system maps, loads and gives back as a whole.

#include <cstddef>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// The size of a page, in bytes: 4 KiB on x86-64; 4, 16 or 64 KiB on ARM, as its kernel was built.
std::size_t page_bytes();

/// `bytes`, from the beginning of their first page on: madvise() refuses any other address.
Bytes from_page_begin(Bytes bytes, std::size_t page = page_bytes());

}  // namespace feedrate::formats
