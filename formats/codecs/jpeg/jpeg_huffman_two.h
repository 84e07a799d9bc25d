#pragma once
// Two runs of MCUs in one loop. A decoder mostly waits for its own last lookup: two of them share
// the time. Compiled as jpeg_huffman_block.h is.

#include "formats/codecs/jpeg/jpeg_huffman_block.h"

namespace feedrate::formats {

enum class LaneState { reading, stopped, unsound };

// One of the runs. What the loop needs of it fits into registers: hence a bit's address, in place
// of all of ScanBits, and no function that is not inlined may get the lane itself.
template <class Pair>
struct HuffmanLane {
  std::uint64_t bit;  // the next one: eight times the address of its byte, and its number there
  std::int16_t* to;   // the block
  const AcTable* table;
  unsigned at;  // the next coefficient
  const HuffmanBlock* block;
  std::span<const HuffmanBlock> mcu;
  std::size_t mcus;
  std::uint64_t last;
  LaneState state;

  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE explicit HuffmanLane(const HuffmanRun& run)
      : bit(8 * reinterpret_cast<std::uintptr_t>(run.bits.next) - run.bits.count),
        to(run.to),
        block(run.mcu.data()),
        mcu(run.mcu),
        mcus(run.mcus),
        last(8 * reinterpret_cast<std::uintptr_t>(run.last)),
        state(LaneState::reading) {
    begin_block();
  }

  FEEDRATE_INLINE void give_back(HuffmanRun& run) const {
    const std::byte* at_bit = byte();
    run.bits = {at_bit + 7, load_word(at_bit) << (bit & 7), 56 - static_cast<unsigned>(bit & 7)};
    run.to = to;
  }

  FEEDRATE_INLINE const std::byte* byte() const {
    return reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(bit >> 3));
  }
  // At least 57 valid bits.
  FEEDRATE_INLINE std::uint64_t word() const { return load_word(byte()) << (bit & 7); }

  // A symbol whatever the length of its code. Sets `value` to its coefficient.
  FEEDRATE_INLINE unsigned read_symbol(const HuffmanCodes& codes, unsigned shortest, int& value) {
    const std::uint64_t bits = word();
    const HuffmanCodes::Symbol found = codes.first(bits, shortest);
    const unsigned size = found.value & 15;
    value = coefficient(bits, found.bits, 63 - size);
    bit += found.bits + size;
    if (found.bits == 0) state = LaneState::unsound;
    return found.value;
  }

  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE void begin_block() {
    const std::uint64_t bits = word();
    const DcLookup& found = block->dc->lookup[bits >> (64 - dc_bits)];
    int difference = 0;
    if (found.total == 0) [[unlikely]] {
      read_symbol(block->dc->codes, 1, difference);
    } else {
      difference = coefficient(bits, found.begin, found.unused);
      bit += found.total;
    }
    const int mean = *block->mean + difference;
    *block->mean = mean;
    *to = static_cast<std::int16_t>(mean);
    if (mean != static_cast<std::int16_t>(mean)) [[unlikely]]
      state = LaneState::unsound;
    table = block->ac;
    at = 1;
  }

  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE void end_block() {
    to += 64;
    if (++block == mcu.data() + mcu.size()) {
      block = mcu.data();
      if (--mcus == 0 || bit > last) {
        state = LaneState::stopped;
        return;
      }
    }
    begin_block();
  }

  // Where there was more in a lookup than coefficients of this block.
  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE void leave(const AcLookup& found) {
    if (ends_soundly(at, found.advance)) {
      bit += found.total;
      end_block();
      return;
    }
    int value = 0;
    const unsigned symbol =
        read_symbol(table->codes, found.advance == no_lookup ? ac_bits + 1 : 1, value);
    if (state == LaneState::unsound) return;
    if (ends_block(symbol)) {
      end_block();
      return;
    }
    at += symbol >> 4;
    to[natural_order[at]] = static_cast<std::int16_t>(value);
    if (++at < 64) return;
    if (at == 64) {
      end_block();
    } else {
      state = LaneState::unsound;
    }
  }

  // A lookup in the highest bits. False where `bits` are to be loaded again.
  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE bool look(std::uint64_t& bits) {
    const std::size_t seen = bits >> (64 - ac_bits);
    const unsigned total = table->total[seen];
    const AcLookup& found = table->lookup[seen];
    Pair::store(bits, found, at, to);
    if (at + found.advance >= 64) [[unlikely]] {
      leave(found);
      return false;
    }
    at += found.advance;
    bits <<= total & 63;
    bit += total;
    return true;
  }

  // Reads the rest of the MCU.
  FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE void finish_mcu() {
    last = 0;
    while (state == LaneState::reading) {
      std::uint64_t bits = word();
      if (look(bits)) look(bits);
    }
  }
};

template <class Pair>
FEEDRATE_HUFFMAN_TARGET FEEDRATE_INLINE bool read_two_runs(HuffmanRun& one, HuffmanRun& other) {
  HuffmanLane<Pair> first(one), second(other);
  while (first.state == LaneState::reading && second.state == LaneState::reading) {
    std::uint64_t bits_of_first = first.word(), bits_of_second = second.word();
    for (;;) {
#pragma GCC unroll 2
      for (unsigned i = 0; i < lookups_at_once; ++i) {
        if (!first.look(bits_of_first)) [[unlikely]]
          goto ended;
        if (!second.look(bits_of_second)) [[unlikely]]
          goto ended;
      }
      bits_of_first = first.word();
      bits_of_second = second.word();
    }
  ended:;
  }
  first.finish_mcu();
  second.finish_mcu();
  first.give_back(one);
  second.give_back(other);
  return first.state != LaneState::unsound && second.state != LaneState::unsound;
}

}  // namespace feedrate::formats
