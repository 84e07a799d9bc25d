#pragma once
// Parquet's hybrid of runs and packed bits, which holds levels and the entries of dictionaries.

#include <cstdint>

#include "formats/base/bytes.h"
#include "formats/base/error.h"

namespace feedrate::formats {

/// Small numbers of `width` bits each. One thread.
class LevelReader {
 public:
  LevelReader(Bytes bytes, unsigned width) : bytes_(bytes), width_(width) {
    if (width > 32) throw Error(join("states numbers of ", width, " bits"));
  }

  /// Calls number(value) `count` times. Throws Error where there are fewer.
  template <class Number>
  void read(std::uint64_t count, const Number& number) {
    while (count > 0) {
      const std::uint64_t head = varint();
      // Packed numbers come in groups of eight, of which the last may be more than are wanted.
      const std::uint64_t stated = (head & 1) == 0 ? head >> 1 : (head >> 1) * 8;
      if (stated == 0) throw Error("has a run of nothing");
      const std::uint64_t some = std::min(stated, count);
      if ((head & 1) == 0) {
        const std::uint32_t value = bits(0, (width_ + 7) / 8 * 8);
        take((width_ + 7) / 8);
        for (std::uint64_t i = 0; i < some; ++i) number(value);
      } else {
        // Some writers leave out what the last group does not use.
        if ((some * width_ + 7) / 8 > bytes_.size())
          throw Error("has fewer numbers than it states");
        for (std::uint64_t i = 0; i < some; ++i) number(bits(i * width_, width_));
        take(std::min<std::uint64_t>(stated / 8 * width_, bytes_.size()));
      }
      count -= some;
    }
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const auto next = std::to_integer<std::uint64_t>(take(1)[0]);
      value |= (next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) return value;
    }
    throw Error("has a run without end");
  }
  Bytes take(std::uint64_t count) {
    if (count > bytes_.size()) throw Error("has fewer numbers than it states");
    const Bytes taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  std::uint32_t bits(std::uint64_t at, unsigned count) const {
    if ((at + count + 7) / 8 > bytes_.size()) throw Error("has fewer numbers than it states");
    std::uint64_t value = 0;
    const std::uint64_t first = at / 8, last = (at + count + 7) / 8;
    for (std::uint64_t i = first; i < last; ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * (i - first));
    }
    value >>= at % 8;
    return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << count) - 1));
  }

  Bytes bytes_;
  unsigned width_;
};

}  // namespace feedrate::formats
