#include "formats/codecs/jpeg/jpeg_scan_bytes.h"

#include <emmintrin.h>

#include <algorithm>
#include <cassert>

namespace feedrate::formats {
namespace {

// Bytes copied at a time, of which SSE2, which every x86-64 has, finds those that are FF.
constexpr std::size_t chunk = sizeof(__m128i);

}  // namespace

void ScanBytes::start(Bytes raw) {
  raw_ = raw;
  before_ = 0;
  ended_ = false;
  end_ = window_.data();
}

const std::byte* ScanBytes::refill(const std::byte* next) {
  assert(next <= end_);  // an MCU ends in the window that was there when it began
  before_ = offset(next);
  const auto left = static_cast<std::size_t>(end_ - next);
  std::memmove(window_.data(), next, left);
  end_ = window_.data() + left;
  unstuff();
  return window_.data();
}

void ScanBytes::unstuff() {
  const std::byte* from = raw_.data();
  const std::byte* const raw_end = from + raw_.size();
  std::byte* const room = window_.data() + size - chunk;  // a chunk may be stored from here
  std::byte* to = end_;
  while (to <= room) {
    if (static_cast<std::size_t>(raw_end - from) > chunk) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
      const auto found =
          static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(-1))));
      if (found == 0) {
        from += chunk;
        to += chunk;
        continue;
      }
      from += std::countr_zero(found);
      to += std::countr_zero(found);
    } else if (from != raw_end && *from != std::byte{0xff}) {
      *to++ = *from++;
      continue;
    }
    // At an FF, or at the end.
    const std::byte* const code =
        std::find_if(from, raw_end, [](std::byte byte) { return byte != std::byte{0xff}; });
    const bool no_marker = code == raw_end || *code == std::byte{0};
    if (no_marker && code == from + 1 && code != raw_end) {
      *to++ = std::byte{0xff};
      from += 2;
      continue;
    }
    ended_ = true;
    if (no_marker) {  // FFs at the end of the file, or several before a 00: libjpeg reads on
      from = raw_end;
      to -= std::min(static_cast<std::size_t>(to - window_.data()), read_ahead);
    }
    break;
  }
  raw_ = {from, raw_end};
  end_ = to;
}

}  // namespace feedrate::formats
