#pragma once
// The entry of a crop index for one JPEG: where every few MCUs begin in its scan, and what their DC
// coefficients are predicted from. So a part of the image can be decoded without what is above and
// beside it. An entry is used only for the very bytes that it was made of, so it changes no pixel.
//
//   u64 XXH3 of the rest | u64 XXH3 of the JPEG | u32 bytes of the JPEG | u32 bytes in front of its
//   scan | u32 MCUs | u16 MCUs from point to point | u8 components | u8 orders: of the place, of 4
//   means | points, the highest bit first | 8 zeros
//
// A point is the difference of its place and its means from those of the point before, the sign of a
// mean's as the lowest bit, each in the Exp-Golomb code of that order. The place counts the bits of
// the file, stuffing and markers included, from the first one of the scan. The first MCU is a point
// that takes no bits.

#include <optional>

#include "formats/codecs/jpeg/jpeg_huffman.h"

namespace feedrate::formats {

/// The largest size of an entry, as a share of its JPEG.
inline constexpr double default_index_share = 0.028;

/// Replaces `entry` by that of the JPEG, with as many points as fit into `share` of the JPEG's bytes.
/// The entry is empty where the JPEG is too small to gain by one, or no sound baseline one. The same
/// bytes give the same entry. Any thread.
void make_jpeg_index(Bytes encoded, Buffer& entry, double share = default_index_share);

/// The fields of an entry that describe the JPEG as a whole.
struct JpegIndexHeader {
  std::uint64_t hash = 0;  // fingerprint() of the JPEG
  std::size_t size = 0;
  std::size_t scan = 0;  // bytes in front of it
  std::size_t mcus = 0;
  std::size_t step = 0;  // MCUs from point to point
  std::size_t components = 0;
  std::array<unsigned, 1 + max_huffman_components> orders{};  // of the codes
};

/// The header of an entry; nothing where the entry is empty or damaged.
std::optional<JpegIndexHeader> read_jpeg_index_header(Bytes entry);
/// Whether the entry was made of these bytes, all of which are hashed.
bool was_made_of(const JpegIndexHeader& header, Bytes encoded);

/// Walks over the points of an entry that has a header, and that must outlive it. One thread.
class JpegIndex {
 public:
  JpegIndex(Bytes entry, const JpegIndexHeader& header);

  const JpegIndexHeader& header() const { return header_; }
  /// Sets where the run's MCUs begin and end in the scan, for its `first` and `mcus`. Runs must be
  /// asked for in the order of the scan. False where the points are damaged.
  bool find(ScanRun& run);

 private:
  bool go_to(std::size_t mcu);
  bool read_next();
  bool take(unsigned order, std::uint64_t& value);

  JpegIndexHeader header_;
  Bytes points_;
  std::uint64_t bit_ = 0;   // of points_, to be read next
  ScanPoint point_, next_;  // the last one at or before an MCU, and the one behind it
};

}  // namespace feedrate::formats
