// What tools keep in an LMDB, in every dialect: u8 size of the key, the key, the value.

#include <algorithm>

#include "formats/containers/lmdb/lmdb_dialect.h"
#include "formats/containers/lmdb/tensor_proto.h"
#include "formats/containers/wire.h"
#include "tests/fuzz/decode.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

Buffer entry(std::string_view key, Bytes value) {
  const auto size = static_cast<std::byte>(key.size());
  return joined({Bytes(&size, 1), as_bytes(key), value});
}

Buffer tensor(std::initializer_list<std::int64_t> dims, std::uint64_t type) {
  Buffer message;
  for (const std::int64_t dim : dims) append_varint_field(message, wire_key(1, Wire::varint), dim);
  append_varint_field(message, wire_key(2, Wire::varint), static_cast<std::int64_t>(type));
  return message;
}

Buffer tensors(const std::vector<Buffer>& list) {
  Buffer message;
  for (const Buffer& each : list) {
    append_delimited_field(message, wire_key(1, Wire::delimited), each);
  }
  return message;
}

void check_sample(const LmdbDialect& dialect, const LmdbItem& item) {
  Scratch scratch;
  accepts([&] {
    const Sample sample = dialect.read(item, scratch);
    if (sample.codec != &raw_codec) return;
    require(sample.shape.plausible() && sample.bytes.size() == sample.shape.bytes(),
            "raw pixels are as many as their shape says");
    Buffer pixels(sample.shape.bytes());
    decode(sample, pixels);
  });
}

}  // namespace

std::vector<Buffer> seeds() {
  const Buffer pixels = small_image({2, 2, 3}).pixels;
  Buffer image = tensor({2, 2, 3}, TensorProto::byte);
  append_delimited_field(image, wire_key(5, Wire::delimited), pixels);
  Buffer numbers = tensor({1, 2, 2}, TensorProto::uint8);
  append_delimited_field(numbers, wire_key(4, Wire::delimited), as_bytes("\x01\x02\x03\xff\x01"));
  Buffer file = tensor({1}, TensorProto::string);
  Buffer png;
  png_codec.encode(small_image({4, 4, 1}), png);
  append_delimited_field(file, wire_key(6, Wire::delimited), png);
  Buffer label = tensor({1}, TensorProto::int32);
  append_varint_field(label, wire_key(4, Wire::varint), 7);
  Buffer box = tensor({4}, TensorProto::int32);
  for (const int side : {1, 0, 2, 3}) append_varint_field(box, wire_key(4, Wire::varint), side);
  using namespace std::string_view_literals;
  return {entry("00000001", tensors({image, label})),
          entry("00000002_a/b.png", tensors({image, label})),
          entry("00000003", tensors({numbers, label})),
          entry("00000004_c.png", tensors({file, label, box})),
          entry("name", png),
          entry("0", as_bytes("\x80\x03"
                              "C\x04"
                              "data"
                              "K\x05\x86."sv)),
          entry("00000005", as_bytes("\x08\x01\x10\x01\x18\x02\x22\x02"
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
  std::vector<LmdbEntry> entries = {place};
  const LmdbDialect* dialect = nullptr;
  if (!accepts([&] { dialect = &find_lmdb_dialect(input, entries); })) return 0;
  check_sample(*dialect, lmdb_item(input, place));
  accepts([&] {
    dialect->arrange(input, entries);
    require(entries.size() <= 1, "arranging adds no entries");
  });
  return 0;
}
