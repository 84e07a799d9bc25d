// Shifts by a variable number of bits take one instruction instead of three.

#include "formats/codecs/jpeg/jpeg_huffman_block.h"

#define FEEDRATE_BMI2 __attribute__((target("bmi,bmi2")))

namespace feedrate::formats {
namespace {

FEEDRATE_BMI2 bool read(std::span<const HuffmanBlock> mcu, ScanBits& bits,
                        std::int16_t* const* to) {
  return read_mcu(mcu, bits, to);
}

FEEDRATE_BMI2 bool skip(std::span<const HuffmanBlock> mcu, ScanBits& bits) {
  return skip_mcu(mcu, bits);
}

}  // namespace

const HuffmanDecoding bmi2_huffman_decoding = {"bmi2", read, skip};

}  // namespace feedrate::formats
