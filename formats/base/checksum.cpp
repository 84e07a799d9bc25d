#include "formats/base/checksum.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "formats/base/processor.h"
#include "formats/base/upper_halves.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_at_once = std::size_t{1} << 30;  // ISA-L counts in an int

// ISA-L's interface is not always const-correct; it only reads.
unsigned char* data_of(Bytes bytes) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
}

}  // namespace

std::uint32_t zip_crc32(Bytes bytes) {
  const std::uint32_t crc = crc32_gzip_refl(0, data_of(bytes), bytes.size());
  clear_upper_halves();
  return crc;
}

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
  std::uint32_t state = ~before;
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(bytes.size(), max_at_once));
    state = crc32_iscsi(data_of(part), static_cast<int>(part.size()), state);
    bytes = bytes.subspan(part.size());
  }
  clear_upper_halves();
  return ~state;
}

std::uint32_t adler32_of(Bytes bytes) {
  const std::uint32_t sum = isal_adler32(1, data_of(bytes), bytes.size());
  clear_upper_halves();
  return sum;
}

void clear_upper_halves() {
  if constexpr (built_for_x86) {
    static const bool has_avx = processor_has({Instructions::avx});
    if (has_avx) zero_upper_halves();
  }
}

}  // namespace feedrate::formats
