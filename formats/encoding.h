#pragma once
// The value of `--encode`: keep | raw | png | jpeg[:QUALITY] | packed.

#include <string>
#include <string_view>

#include "formats/codec.h"

namespace feedrate::formats {

struct Encoding {
  const Codec* codec = nullptr;  // null: keep, every sample keeps its bytes
  int quality = 0;               // 1 … 100; 0: the codec's default

  bool keeps() const { return codec == nullptr; }
  std::string name() const;  // as written on the command line
};

/// Throws Error for an unknown codec, for a quality that is not 1 … 100, and for one given to a
/// codec that has none.
Encoding parse_encoding(std::string_view text);

}  // namespace feedrate::formats
