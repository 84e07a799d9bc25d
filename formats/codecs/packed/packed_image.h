#pragma once
// The frame of a packed JPEG, as packed.h draws it: its parts, every offset checked.

#include <algorithm>

#include "formats/codecs/jpeg/jpeg_scan.h"

namespace feedrate::formats {

inline constexpr std::string_view packed_magic = "\x9epacked1";
inline constexpr std::size_t packed_fixed = 8 + 8 + 4 + 4;  // bytes in front of the head
inline constexpr std::size_t packed_run = 8;                // MCUs of a run
inline constexpr std::size_t packed_entry = 4 + 4;          // bytes of a run in the index

inline std::size_t runs_of_row(const JpegLayout& layout) {
  return (layout.across + packed_run - 1) / packed_run;
}

/// The lower half of a fingerprint.
std::uint32_t run_sum(Bytes data);

struct PackedImage {
  Bytes head;   // of a JPEG
  Bytes index;  // packed_entry bytes for each run
  Bytes data;

  std::size_t runs() const { return index.size() / packed_entry; }
  /// Where the data begins in the packed JPEG.
  std::size_t data_at() const { return packed_fixed + head.size() + index.size(); }
};

/// Throws Error naming the byte.
PackedImage packed_image(Bytes encoded);

/// Reads the blocks of a packed JPEG. Trusts nothing in them.
class PackedScan final : public JpegScan {
 public:
  explicit PackedScan(const PackedImage& record);

  const char* begin(const JpegLayout& layout) noexcept override;
  const char* read(std::size_t row, std::size_t column,
                   std::int16_t* const* blocks) noexcept override;
  std::size_t at() const noexcept override;

 private:
  const char* open_run(std::size_t run) noexcept;
  const char* read_next(std::int16_t* const* blocks) noexcept;
  const char* read_near_end(std::int16_t* const* blocks) noexcept;

  PackedImage record_;
  JpegLayout layout_;
  std::size_t run_ = 0;       // the open run, counted from 1; 0: none
  std::size_t left_ = 0;      // MCUs of it that are still unread
  const std::byte* next_;     // the next MCU
  const std::byte* run_end_;  // of the open run's data
};

}  // namespace feedrate::formats
