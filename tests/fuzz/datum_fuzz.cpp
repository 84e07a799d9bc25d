// Caffe's Datum.

#include "formats/containers/lmdb/datum.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

using namespace std::string_view_literals;

Buffer raw(Shape shape, Bytes pixels, std::int32_t label) {
  DatumFrame frame;
  frame_raw_datum(shape, label, frame);
  return joined({frame.head, pixels, frame.tail});
}

Buffer encoded(Bytes image, std::int32_t label) {
  DatumFrame frame;
  frame_encoded_datum(image.size(), label, frame);
  return joined({frame.head, image, frame.tail});
}

bool alike(const Datum& a, const Datum& b) {
  return same(a.data, b.data) && a.label == b.label && a.encoded == b.encoded;
}

}  // namespace

std::vector<Buffer> seeds() {
  return {raw({2, 3, 1}, as_bytes("abcdef"), 7), encoded(as_bytes("\xff\xd8\xff"), -1),
          // Floats, an unknown field.
          buffer("\x08\x01\x35\x00\x00\x80\x3f\x35\x00\x00\x00\x40\x28\x05\x7d\x01\x02\x03\x04"sv)};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes message = fenced(data, size);
  Datum datum;
  if (!accepts([&] { datum = parse_datum(message); })) return 0;
  require(inside(datum.data, message), "the data lies inside the message");
  const bool image = datum.shape.plausible() && datum.shape.bytes() == datum.data.size();
  if (!datum.encoded && !image) return 0;
  const Buffer rewritten =
      datum.encoded ? encoded(datum.data, datum.label) : raw(datum.shape, datum.data, datum.label);
  const Datum again = parse_datum(rewritten);
  require(alike(again, datum), "what is written reads as it was");
  require(datum.encoded || again.shape == datum.shape, "a raw datum keeps its shape");
  return 0;
}
