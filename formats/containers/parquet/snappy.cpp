#include "formats/containers/parquet/snappy.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

class Snappy {
 public:
  Snappy(Bytes packed, MutableBytes into) : packed_(packed), into_(into) {}

  void unpack() {
    const std::uint64_t stated = size();
    if (stated != into_.size()) {
      refuse(join("states ", stated, " bytes, expected ", into_.size()));
    }
    while (at_ < packed_.size()) {
      const auto tag = std::to_integer<unsigned>(packed_[at_++]);
      switch (tag & 3U) {
        case 0:
          literal(tag >> 2);
          break;
        case 1:
          copy((tag >> 5 << 8) | number(1), (tag >> 2 & 7U) + 4);
          break;
        case 2:
          copy(number(2), (tag >> 2) + 1);
          break;
        default:
          copy(number(4), (tag >> 2) + 1);
      }
    }
    if (done_ != into_.size()) refuse(join("ends after ", done_, " bytes of ", into_.size()));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(join("the Snappy data (byte ", at_, " of ", packed_.size(), ") ", what));
  }

  std::uint64_t size() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const std::uint64_t next = number(1);
      value |= (next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) return value;
    }
    refuse("states no size");
  }

  std::uint64_t number(std::size_t bytes) {
    if (bytes > packed_.size() - at_) refuse("is cut off");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= std::to_integer<std::uint64_t>(packed_[at_++]) << (8 * i);
    }
    return value;
  }

  void literal(unsigned length) {
    constexpr unsigned longest = 60;  // from then on, so many bytes more hold the length
    const std::uint64_t count = 1 + (length < longest ? length : number(length - longest + 1));
    if (count > packed_.size() - at_) refuse("is cut off");
    if (count > into_.size() - done_) refuse("holds more than it states");
    std::copy_n(packed_.begin() + static_cast<std::ptrdiff_t>(at_), count,
                into_.begin() + static_cast<std::ptrdiff_t>(done_));
    at_ += count;
    done_ += count;
  }

  void copy(std::uint64_t back, std::uint64_t count) {
    if (back == 0 || back > done_) refuse(join("copies from ", back, " bytes back, of ", done_));
    if (count > into_.size() - done_) refuse("holds more than it states");
    // The copy may read what it has just written: a run.
    for (std::uint64_t i = 0; i < count; ++i, ++done_) into_[done_] = into_[done_ - back];
  }

  Bytes packed_;
  MutableBytes into_;
  std::size_t at_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

void unpack_snappy(Bytes packed, MutableBytes into) { Snappy(packed, into).unpack(); }

}  // namespace feedrate::formats
