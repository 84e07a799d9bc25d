#pragma once
// For damaged packed JPEGs: corrects the fingerprint and the sums, as far as they can be found
// despite the damage.

#include <cstring>

#include "formats/codecs/packed/packed_image.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::testing {
using namespace formats;

inline void mend_packed_jpeg(MutableBytes record) {
  if (record.size() < packed_fixed) return;
  const auto head = load_le<std::uint32_t>(record.data() + 16);
  const auto runs = load_le<std::uint32_t>(record.data() + 20);
  const std::uint64_t index = packed_fixed + std::uint64_t{head};
  const std::uint64_t data = index + std::uint64_t{runs} * packed_entry;
  if (data > record.size()) return;
  std::uint32_t begin = 0;
  for (std::uint64_t entry = index; entry < data; entry += packed_entry) {
    const auto end = load_le<std::uint32_t>(record.data() + entry);
    if (begin <= end && end <= record.size() - data) {
      const std::uint32_t sum = run_sum(Bytes(record).subspan(data + begin, end - begin));
      std::memcpy(record.data() + entry + 4, &sum, sizeof sum);
    }
    begin = end;
  }
  const std::uint64_t all = fingerprint(Bytes(record).first(data).subspan(16));
  std::memcpy(record.data() + 8, &all, sizeof all);
}

}  // namespace feedrate::testing
