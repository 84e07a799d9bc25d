#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_feeders.hpp"

namespace feedrate::formats {

bool is_sound_jpeg(Bytes encoded) {
  HuffmanFeeder feeder(*runnable_huffman_decodings().front());
  std::size_t left = 0;
  if (!start_whole_scan(jpeg_decompressor_for(encoded), feeder, left)) return false;
  for (std::size_t mcus = feeder.layout.across * feeder.layout.down; mcus > 0; --mcus) {
    if (!feeder.scan->read(nullptr)) return false;
  }
  const Bytes rest = feeder.scan->rest();
  constexpr std::byte end_of_image{0xd9};
  return rest.size() >= 2 && rest[1] == end_of_image;
}

}  // namespace feedrate::formats
