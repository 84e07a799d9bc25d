#pragma once
// The entropy-coded bytes of a JPEG's scan without their stuffing (FF 00 becomes FF), a window at a
// time.

#include <array>

#include "formats/base/bytes.h"
#include "formats/base/poison.h"

namespace feedrate::formats {

class ScanBytes {
 public:
  /// Bytes that may be read in front of any `next` that slide() returned, unless the scan begins
  /// there: a reader that holds them in a register can put them back.
  static constexpr std::size_t kept = sizeof(std::uint64_t);

  /// Bytes that may be read from any `next` on that was given to slide(), even beyond end(): there
  /// they have no meaning. The largest MCU has 10 blocks of 64 coefficients of up to 31 bits.
  static constexpr std::size_t readable = 10 * 64 * 31 / 8 + 32;

  /// libjpeg reads ahead, and fails at the end of a file even where it needs no further bit. So a scan
  /// counts as damaged where it comes within this many bytes of an end without a marker.
  static constexpr std::size_t read_ahead = 16;

  /// From the first byte behind the header of the scan, or behind a restart marker, to the end of
  /// the file.
  void start(Bytes raw);
  const std::byte* begin() const { return window_.data(); }
  /// Bytes without stuffing from the start to `next`.
  std::size_t offset(const std::byte* next) const {
    return before_ + static_cast<std::size_t>(next - window_.data());
  }
  /// Behind the last byte of the window, or behind the last that may be used at all.
  const std::byte* end() const { return end_; }

  /// Slides the window if it has fewer than `readable` bytes from `next` on and there are more.
  /// Returns the new place of `next`.
  const std::byte* slide(const std::byte* next) {
    return end_ - next >= static_cast<std::ptrdiff_t>(readable) || ended_ ? next : refill(next);
  }
  /// True once the window holds the last bytes of the scan, before a marker or the end of the file.
  bool ended() const { return ended_; }
  /// The bytes behind the scan: FF and a marker, or nothing.
  Bytes rest() const { return raw_; }

 private:
  const std::byte* refill(const std::byte* next);
  void unstuff();

  // More would not fit into the first cache beside the tables.
  static constexpr std::size_t size = 8192;

  Bytes raw_;               // not yet in the window
  std::size_t before_ = 0;  // bytes that have left it
  bool ended_ = true;
  std::byte* end_ = window_.data();
  Poisoned front_;  // the two fences let a debug build stop at a read outside the window
  std::array<std::byte, size + readable> window_{};
  Poisoned back_;
};

}  // namespace feedrate::formats
