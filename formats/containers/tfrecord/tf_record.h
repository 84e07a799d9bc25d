#pragma once
// The framing of TensorFlow's TFRecord files, read in place. Stateless.
//
//   u64 length | u32 masked CRC-32C of those 8 bytes | data | u32 masked CRC-32C of the data
//
// The mask (a rotation and an addition) keeps data that holds CRCs from having a CRC of its own
// kind. There is no header, no end mark and no padding: files can be joined.

#include <array>
#include <cstdint>
#include <span>

#include "formats/base/checksum.h"

namespace feedrate::formats {

inline constexpr std::size_t tf_record_head = 12;
inline constexpr std::size_t tf_record_tail = 4;
inline constexpr std::size_t tf_record_frame = tf_record_head + tf_record_tail;

/// As TFRecord stores a CRC (crc32c of checksum.h).
std::uint32_t mask_crc32c(std::uint32_t crc);

/// Data of the record at byte `at`. Both CRCs are checked. Throws Error naming the byte on damage.
Bytes read_tf_record(Bytes file, std::uint64_t at);
/// Where the record at byte `at` of a file of `size` bytes ends, by its `head`: the bytes from
/// there on, as many as there are but tf_record_head at most are looked at. Throws Error as
/// read_tf_record does.
std::uint64_t tf_record_end(Bytes head, std::uint64_t at, std::uint64_t size);

/// What a record has before and behind its data.
struct TfFrame {
  std::array<std::byte, tf_record_head> head;
  std::array<std::byte, tf_record_tail> tail;
};
/// For the data that these parts are, one after the other.
TfFrame frame_tf_record(std::span<const Bytes> parts);

/// True when the bytes, at least tf_record_head of them, start as a TFRecord file does: a length
/// and its CRC.
bool is_tf_record(Bytes start);

}  // namespace feedrate::formats
