#include "formats/codecs/jpeg/jpeg_scan_bytes.h"

#include <algorithm>

namespace feedrate::formats {
namespace {

// libjpeg reads ahead, and fails at the end of a file even where it needs no further bit. By so
// many bytes before an end without a marker, the scan counts as damaged.
constexpr std::size_t read_ahead = 16;

constexpr std::size_t word = sizeof(std::uint64_t);

// Bit 7 of a byte is set where it is FF, and perhaps of bytes behind such a one.
std::uint64_t stuffed(std::uint64_t bytes) {
  constexpr std::uint64_t lowest = 0x0101010101010101, highest = lowest << 7;
  return (~bytes - lowest) & bytes & highest;
}

}  // namespace

void ScanBytes::start(Bytes raw) {
  raw_ = raw;
  ended_ = false;
  end_ = window_.data();
}

const std::byte* ScanBytes::refill(const std::byte* next) {
  // `next` may lie beyond the end, where the decoder has read ahead.
  const auto left = end_ - next;
  if (left > 0) std::memmove(window_.data(), next, static_cast<std::size_t>(left));
  const std::byte* moved = window_.data();
  if (left >= 0) {
    end_ = window_.data() + left;
  } else {
    moved = window_.data() - left;
    end_ = window_.data();
  }
  unstuff();
  return moved;
}

void ScanBytes::unstuff() {
  const std::byte* from = raw_.data();
  const std::byte* const raw_end = from + raw_.size();
  std::byte* const room = window_.data() + size - word;  // a word may be stored from here
  std::byte* to = end_;
  while (to <= room) {
    if (static_cast<std::size_t>(raw_end - from) > word) {
      const auto bytes = load_le<std::uint64_t>(from);
      std::memcpy(to, &bytes, word);
      const std::uint64_t found = stuffed(bytes);
      if (found == 0) {
        from += word;
        to += word;
        continue;
      }
      const auto before = static_cast<std::size_t>(std::countr_zero(found)) / 8;
      from += before;
      to += before;
    } else if (from != raw_end && *from != std::byte{0xff}) {
      *to++ = *from++;
      continue;
    }
    // At an FF, or at the end.
    if (raw_end - from < 2) {
      from = raw_end;
      to -= std::min(static_cast<std::size_t>(to - window_.data()), read_ahead);
      ended_ = true;
      break;
    }
    if (from[1] != std::byte{0}) {
      ended_ = true;
      break;
    }
    *to++ = std::byte{0xff};
    from += 2;
  }
  raw_ = {from, raw_end};
  end_ = to;
}

}  // namespace feedrate::formats
