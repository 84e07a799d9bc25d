#pragma once
// For mutated TFRecord files: fixes both CRCs of every record.

#include "formats/containers/tfrecord/tf_record.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

inline void mend_tf_records(MutableBytes file) {
  const auto store = [](std::byte* at, std::uint32_t crc) { std::memcpy(at, &crc, sizeof crc); };
  for (std::size_t at = 0; file.size() - at >= tf_record_frame;) {
    const MutableBytes rest = file.subspan(at);
    store(rest.data() + 8, mask_crc32c(crc32c(rest.first(8))));
    const auto length = load_le<std::uint64_t>(rest.data());
    if (length > rest.size() - tf_record_frame) return;
    const Bytes content = rest.subspan(tf_record_head, length);
    store(rest.data() + tf_record_head + length, mask_crc32c(crc32c(content)));
    at += tf_record_frame + length;
  }
}

}  // namespace feedrate::fuzz
