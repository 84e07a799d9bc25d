#pragma once
// The framing of MXNet's RecordIO and the header of an image record in it. Stateless.
//
//   record:  u32 magic 0xCED7230A | u32 part << 29 | size | payload | zeros to a multiple of 4
//            part: 0 whole, 1 first, 2 middle, 3 last. A payload that holds the magic at a multiple
//            of 4 is split there; the four bytes are dropped and put back by the reader.
//   payload: u32 flag | f32 label | u64 id | u64 id2 | flag × f32 label | image

#include <cstdint>

#include "formats/bytes.h"

namespace feedrate {

struct Record {
  Bytes payload;          // in the file, or in the storage when the record was split
  std::uint64_t end = 0;  // where the next record starts
};

/// The record at byte `at` of the file. Throws Error naming the byte on damage.
Record read_record(Bytes file, std::uint64_t at, Buffer& storage);
/// Where the record at `at` ends, looking at its frame only. Throws Error as read_record does.
std::uint64_t skip_record(Bytes file, std::uint64_t at);
/// Appends the framed payload. Throws Error when it is 2^29 bytes or longer.
void append_record(Bytes payload, Buffer& framed);

struct ImageRecord {
  std::int32_t label = 0;  // the first one when there are several
  std::uint64_t id = 0;
  Bytes image;
};

/// Throws Error when the payload cannot be an image record or its label is no class.
ImageRecord parse_image_record(Bytes payload);
/// Replaces `payload`. Throws Error for a label that a 32-bit float cannot hold exactly.
void write_image_record(std::int32_t label, std::uint64_t id, Bytes image, Buffer& payload);

/// True when the bytes start as a RecordIO file does.
bool is_recordio(Bytes start);
inline constexpr std::size_t record_head = 8;  // magic and size; what is_recordio wants to see

}  // namespace feedrate
