#pragma once
// The framing of TensorFlow's TFRecord files, read in place. Stateless.
//
//   u64 length | u32 masked CRC-32C of those 8 bytes | data | u32 masked CRC-32C of the data
//
// The mask (a rotation and an addition) keeps the CRC of data that itself holds CRCs meaningful.
// There is no header, end mark or padding: files can be concatenated.

#include <array>
#include <cstdint>
#include <span>

#include "formats/base/checksum.h"

namespace feedrate::formats {

inline constexpr std::size_t tf_record_head = 12;
inline constexpr std::size_t tf_record_tail = 4;
inline constexpr std::size_t tf_record_frame = tf_record_head + tf_record_tail;

/// Masks a CRC (crc32c of checksum.h) as TFRecord stores it.
std::uint32_t mask_crc32c(std::uint32_t crc);

/// The data of the record at byte `at`. Checks both CRCs. Throws Error naming the byte on damage.
Bytes read_tf_record(Bytes file, std::uint64_t at);
/// The end of the record at byte `at` of a file of `size` bytes. `head` holds the bytes from `at`
/// on: at least tf_record_head, or all that the file has. Throws Error as read_tf_record does.
std::uint64_t tf_record_end(Bytes head, std::uint64_t at, std::uint64_t size);

/// What precedes and follows the data of a record.
struct TfFrame {
  std::array<std::byte, tf_record_head> head;
  std::array<std::byte, tf_record_tail> tail;
};
/// The frame for data that consists of these parts, concatenated.
TfFrame frame_tf_record(std::span<const Bytes> parts);

/// True when the bytes, at least tf_record_head of them, start like a TFRecord file: a length and
/// its CRC.
bool is_tf_record(Bytes start);

}  // namespace feedrate::formats
