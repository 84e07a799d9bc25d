#pragma once
// The framing of MXNet's RecordIO. Stateless.
//
//   record:  u32 magic 0xCED7230A | u32 part << 29 | size | payload | zeros to a multiple of 4
//            part: 0 whole, 1 first, 2 middle, 3 last. A payload that holds the magic at a multiple
//            of 4 is split there; the four bytes are dropped and put back by the reader.

#include <cstdint>
#include <functional>

#include "formats/base/bytes.h"

namespace feedrate::formats {

struct Record {
  Bytes payload;          // in the file, or in the storage when the record was split
  std::uint64_t end = 0;  // where the next record starts
};

/// The record at byte `at` of the file. Throws Error naming the byte on damage.
Record read_record(Bytes file, std::uint64_t at, Buffer& storage);
/// Where the record at `at` ends, looking at its frame only. Throws Error as read_record does.
std::uint64_t skip_record(Bytes file, std::uint64_t at);

inline constexpr std::size_t largest_record = (std::size_t{1} << 29) - 1;  // bytes of a payload

/// Gives the framed payload, which is `head` and then `body`, to `sink` piece by piece; nothing is
/// copied. `head` has a multiple of 4 bytes, and both no more than largest_record.
void frame_record(Bytes head, Bytes body, const std::function<void(Bytes)>& sink);

/// Where the magic number stands first in `payload`, at a multiple of 4 from `from` (one itself)
/// on; payload.size() when nowhere.
std::size_t find_record_magic(Bytes payload, std::size_t from);

/// True when the bytes start as a RecordIO file does.
bool is_recordio(Bytes start);
inline constexpr std::size_t record_head = 8;  // magic and size; what is_recordio wants to see

}  // namespace feedrate::formats
