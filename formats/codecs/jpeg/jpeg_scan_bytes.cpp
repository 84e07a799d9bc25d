#include "formats/codecs/jpeg/jpeg_scan_bytes.h"

#include <algorithm>
#include <cassert>

#include "formats/base/lanes.hpp"

namespace feedrate::formats {

void ScanBytes::start(Bytes raw) {
  raw_ = raw;
  before_ = 0;
  ended_ = false;
  end_ = window_.data();
}

const std::byte* ScanBytes::refill(const std::byte* next) {
  assert(next <= end_);  // an MCU ends in the window that was there when it began
  const std::size_t back = std::min(static_cast<std::size_t>(next - window_.data()), kept);
  before_ = offset(next - back);
  const auto left = static_cast<std::size_t>(end_ - next) + back;
  std::memmove(window_.data(), next - back, left);
  end_ = window_.data() + left;
  unstuff();
  return window_.data() + back;
}

void ScanBytes::unstuff() {
  const std::byte* from = raw_.data();
  const std::byte* const raw_end = from + raw_.size();
  std::byte* const room = window_.data() + size - lanes;  // lanes may be stored from here
  std::byte* to = end_;
  while (to <= room) {
    if (static_cast<std::size_t>(raw_end - from) > lanes) {
      const Lanes bytes = load_lanes(from);
      store_lanes(to, bytes);
      const LaneBits found = equal_lanes(bytes, all_lanes(0xff));
      if (found == 0) {
        from += lanes;
        to += lanes;
        continue;
      }
      from += first_lane(found);
      to += first_lane(found);
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
