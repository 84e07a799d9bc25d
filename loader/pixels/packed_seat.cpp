#include "loader/pixels/packed_seat.h"

#include <algorithm>
#include <type_traits>

#include "formats/base/error.h"

namespace feedrate::loader {
using namespace formats;

static_assert(std::is_trivially_copyable_v<PackedSeat>);

namespace {

void write_head(MutableBytes seat, const PackedSeat& head) {
  std::memcpy(seat.data(), &head, sizeof head);
}

// The packed bytes, and false where there are none.
bool fill(const Sample& sample, const View& view, MutableBytes seat, PackedSeat& head) {
  if (sample.codec != &packed_codec) return false;
  head.part = needed_part(view, sample.shape);
  if (head.part.height == 0 || head.part.width == 0) return false;  // all black
  const PackedImage record = packed_image(sample.bytes);
  const std::optional<PackedPart> image = packed_part(record, sample.shape, head.part);
  if (!image) return false;
  const MutableBytes room = seat.subspan(seat_head_bytes);
  if (std::uint64_t{head.part.height} * head.part.width > max_packed_pixels ||
      packed_part_bytes(record, *image) > room.size()) {
    head.holds = SeatHolds::too_large;
    return false;
  }
  head.bytes = static_cast<std::uint32_t>(copy_packed_part(record, *image, room));
  head.image = *image;
  head.view = view;
  head.holds = SeatHolds::packed;
  return true;
}

}  // namespace

std::size_t packed_seat_bytes(Shape shape, std::size_t packed_bytes) {
  constexpr std::size_t spare = std::size_t{64} << 10;
  const std::size_t room = packed_bytes != 0 ? packed_bytes : 2 * shape.bytes() + spare;
  return round_up(seat_head_bytes + std::max(room, shape.bytes()), cache_line);
}

bool seat_packed(const Sample& sample, const View& view, Shape shape, MutableBytes seat) {
  PackedSeat head;
  bool packed = false;
  try {
    packed = sample.shape.channels <= shape.channels && fill(sample, view, seat, head);
  } catch (const Error&) {  // damaged: decoding says how, unless the view needs less than was read
  }
  if (!packed) head.bytes = static_cast<std::uint32_t>(shape.bytes());
  write_head(seat, head);
  return packed;
}

}  // namespace feedrate::loader
