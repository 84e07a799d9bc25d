#pragma once
// A zlib stream (RFC 1950, 1951) for data without repeats other than runs of one byte: the rows of
// a filtered photograph. It uses only runs and one Huffman code for each block; its size is within
// a few percent of zlib's there, in a fraction of the time. One thread; a fixed amount of memory.

#include <array>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

class RunDeflater {
 public:
  /// Bytes that deflate() may write for that much data: never much more than the data itself.
  static std::size_t bound(std::size_t bytes);
  /// Writes the stream and returns its size. The same data give the same bytes on every machine.
  std::size_t deflate(Bytes data, std::byte* to);
  /// How many literals and runs deflate() would code: a cheap hint at which data have more pattern.
  static std::size_t count_symbols(Bytes data);
  /// True when about an eighth of the data or more seems to repeat earlier data, so that zlib does
  /// much better. An estimate from samples, in a small part of deflate()'s time.
  bool has_repeats(Bytes data);

 private:
  // Literal bytes, then a run of the last of them (0: none).
  struct Stretch {
    std::uint16_t literals;
    std::uint16_t run;
  };
  static constexpr std::size_t block = 32768;  // bytes that share a Huffman code
  static constexpr std::size_t literal_symbols = 286;

  struct BitWriter;
  struct Header;

  void split(const std::byte* begin, const std::byte* end, bool is_first);
  void count_literals(const std::byte* from, std::size_t count);
  void make_code();
  void write_block(BitWriter& bits, const std::byte* data) const;

  std::array<Stretch, block / 4 + 2> stretches_;  // a run has four bytes or more
  std::size_t stretch_count_ = 0;
  std::array<std::array<std::uint32_t, 256>, 4> lanes_;  // counts of every fourth literal
  std::array<std::uint32_t, literal_symbols> counts_;
  std::array<std::uint8_t, literal_symbols> lengths_;
  std::array<std::uint16_t, literal_symbols> codes_;
  std::array<std::uint32_t, 4096> seen_;  // where eight bytes with that hash were last seen
};

}  // namespace feedrate::formats
