#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_feeders.hpp"

namespace feedrate::formats {

namespace {

// Reads all codes of a baseline image. Null where they are not sound.
const HuffmanScan* read_codes(Bytes encoded) {
  HuffmanFeeder feeder(*runnable_huffman_decodings().front());
  std::size_t left = 0;
  if (!start_whole_scan(jpeg_decompressor_for(encoded), feeder, left)) return nullptr;
  for (std::size_t mcus = feeder.layout.across * feeder.layout.down; mcus > 0; --mcus) {
    if (!feeder.scan->read(nullptr)) return nullptr;
  }
  return feeder.scan;
}

}  // namespace

bool is_sound_jpeg(Bytes encoded) {
  const HuffmanScan* scan = read_codes(encoded);
  if (scan == nullptr || !scan->is_padded()) return false;
  Bytes rest = scan->rest();
  constexpr std::byte fill{0xff}, end_of_image{0xd9};
  while (!rest.empty() && rest.front() == fill) rest = rest.subspan(1);
  return !rest.empty() && rest.front() == end_of_image;
}

bool lacks_only_its_end(Bytes encoded) { return read_codes(encoded) != nullptr; }

}  // namespace feedrate::formats
