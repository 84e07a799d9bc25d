#pragma once
// What a batch of PixelType::packed holds for each image, in a seat of its own: a head and, behind
// it, either the bytes of a packed JPEG that the view needs, or pixels, where the sample is no sound
// packed JPEG or does not fit. Which of the two depends on the sample and its view alone. Stateless;
// any thread.
//
//   PackedSeat, padded to seat_head_bytes | seat.bytes bytes | unused

#include <cstring>

#include "formats/codecs/packed/packed_part.h"
#include "formats/sample.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {

enum class SeatHolds : std::uint8_t {
  packed,     // what copy_packed_part() writes
  pixels,     // u8, HWC: the sample is not a packed JPEG, or its damage lies outside the view
  too_large,  // u8, HWC: it is one, but too large for the seat
};

/// Trivially copyable. `image`, `view` and `part` are set only where the seat holds packed bytes.
struct PackedSeat {
  SeatHolds holds = SeatHolds::pixels;
  std::uint32_t bytes = 0;  // behind the head
  formats::PackedPart image;
  View view;
  formats::Rect part;  // needed_part(view)
};

inline constexpr std::size_t seat_head_bytes =
    formats::round_up(sizeof(PackedSeat), formats::cache_line);
/// Pixels that a view may need of a packed JPEG; for more, the device's memory would not be bounded.
inline constexpr std::uint64_t max_packed_pixels = std::uint64_t{1} << 24;

/// Bytes of a seat for images of `shape`, with room for `packed_bytes`; 0: the default, twice the
/// pixels' and 64 KiB, into which each of 240 ImageNet photographs fits at 224 x 224.
std::size_t packed_seat_bytes(formats::Shape shape, std::size_t packed_bytes);

/// Writes the head, and the packed bytes if they are sound and fit into the seat. Returns false if
/// not; then the caller writes the pixels of the view into pixels_of_seat(). So damage is reported by
/// the decoder on the host, and no device ever sees it.
bool seat_packed(const formats::Sample& sample, const View& view, formats::Shape shape,
                 formats::MutableBytes seat);

inline formats::MutableBytes pixels_of_seat(formats::MutableBytes seat, formats::Shape shape) {
  return seat.subspan(seat_head_bytes, shape.bytes());
}

/// A copy of the head.
inline PackedSeat head_of_seat(formats::Bytes seat) {
  PackedSeat head;
  std::memcpy(static_cast<void*>(&head), seat.data(), sizeof head);
  return head;
}

}  // namespace feedrate::loader
