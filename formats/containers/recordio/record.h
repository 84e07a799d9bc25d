#pragma once
// The framing of MXNet's RecordIO. Stateless.
//
//   record:  u32 magic 0xCED7230A | u32 part << 29 | size | payload | zeros to a multiple of 4
//            part: 0 whole, 1 first, 2 middle, 3 last. A payload that holds the magic at a multiple
//            of 4 is split there; the four bytes are dropped and put back by the reader.

#include <cstdint>
#include <functional>

#include "formats/base/bytes.h"
#include "formats/io/late_bytes.h"

namespace feedrate::formats {

struct Record {
  Bytes payload;          // in the file, or in `storage` when the record was split
  std::uint64_t end = 0;  // where the next record starts
};

/// The record at byte `at` of the file. Throws Error naming the byte on damage.
Record read_record(Bytes file, std::uint64_t at, Buffer& storage);
/// The end of the record at `at`, from its frame alone, which the window (or null) waits for. Throws
/// Error as read_record does.
std::uint64_t skip_record(Bytes file, std::uint64_t at, HeldWindow* window = nullptr);

inline constexpr std::size_t max_record_bytes = (std::size_t{1} << 29) - 1;  // of a payload

/// Frames the payload `head` + `body` and passes it to `sink` in parts, without copying. The size
/// of `head` is a multiple of 4, and both together have at most max_record_bytes.
void frame_record(Bytes head, Bytes body, const std::function<void(Bytes)>& sink);

/// Position of the first magic number in `payload` at a multiple of 4 from `from` on, which is
/// itself one; payload.size() when there is none.
std::size_t find_record_magic(Bytes payload, std::size_t from);

/// True when the bytes start as a RecordIO file does.
bool is_recordio(Bytes start);
inline constexpr std::size_t record_head = 8;  // magic and size; what is_recordio needs

}  // namespace feedrate::formats
