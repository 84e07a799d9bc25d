// What tools keep in an LMDB, in both dialects: u8 size of the key, the key, the value.

#include <algorithm>

#include "formats/containers/lmdb/lmdb_dialect.h"
#include "tests/fuzz/decode.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

Buffer entry(std::string_view key, Bytes value) {
  const auto size = static_cast<std::byte>(key.size());
  return joined({Bytes(&size, 1), as_bytes(key), value});
}

void check_sample(const LmdbDialect& dialect, const LmdbItem& item) {
  accepts([&] {
    const Sample sample = dialect.read(item);
    if (sample.codec != &raw_codec) return;
    require(sample.shape.plausible() && sample.bytes.size() == sample.shape.bytes(),
            "raw pixels are as many as their shape says");
    Buffer pixels(sample.shape.bytes());
    decode(sample, pixels);
  });
}

}  // namespace

std::vector<Buffer> seeds() {
  using namespace std::string_view_literals;
  Buffer png;
  png_codec.encode(small_image({4, 4, 1}), png);
  return {entry("name", png), entry("00000005", as_bytes("\x08\x01\x10\x01\x18\x02\x22\x02"
                                                         "ab\x28\x03"sv))};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes input = fenced(data, size);
  if (input.empty()) return 0;
  const std::size_t key_size = std::min(std::to_integer<std::size_t>(input[0]), input.size() - 1);
  LmdbEntry place;
  place.key = 1;
  place.key_size = static_cast<std::uint32_t>(key_size);
  place.value = 1 + key_size;
  place.value_size = static_cast<std::uint32_t>(input.size() - 1 - key_size);
  const LmdbDialect* dialect = nullptr;
  if (accepts([&] { dialect = &find_lmdb_dialect(input, {place}); })) {
    check_sample(*dialect, lmdb_item(input, place));
  }
  return 0;
}
