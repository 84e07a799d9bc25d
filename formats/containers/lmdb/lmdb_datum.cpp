// Caffe's dialect: each value is a Datum.
//
// Raw datums are planes; their keys show the order: convert_imageset writes "%08d_path" and B, G,
// R; Caffe's MNIST and CIFAR converters write bare digits and R, G, B. Our writer follows the same
// rule. Keys of other tools tell nothing: `?order=bgr` behind the path does.

#include <algorithm>
#include <array>

#include "formats/base/error.h"
#include "formats/containers/lmdb/datum.h"
#include "formats/containers/lmdb/lmdb_dialect.h"
#include "formats/containers/lmdb/lmdb_key.h"

namespace feedrate::formats {
namespace {

class DatumDialect final : public LmdbDialect {
 public:
  bool knows(Bytes value) const override {
    // The first bytes of Datum's seven fields. An empty value is a message too.
    constexpr std::array<unsigned char, 8> keys{0x08, 0x10, 0x18, 0x22, 0x28, 0x32, 0x35, 0x38};
    return value.empty() ||
           std::ranges::find(keys, std::to_integer<unsigned char>(value.front())) != keys.end();
  }

  Sample read(const LmdbItem& item) const override {
    const Datum datum = parse_datum(item.value);
    if (datum.data.empty()) {
      throw Error(datum.has_floats
                      ? "the Datum holds float_data; Feedrate reads only 8-bit pixels (data)"
                      : "not a Caffe Datum: it holds no image data");
    }
    Sample sample;
    sample.bytes = datum.data;
    sample.label = datum.label;
    const std::string_view name = name_in_lmdb_key(item.key);
    // DIGITS numbers its keys and appends the label: "00000004_7".
    if (parse_number<std::int64_t>(name) != datum.label) sample.name = name;
    const bool fits = datum.shape.plausible() && datum.shape.bytes() == datum.data.size();
    // Caffe's older tools, and others, keep files of images without saying so.
    if (datum.encoded || (!fits && codec_of(datum.data) != nullptr)) return sample;
    if (!fits) {
      throw Error(join("the Datum states ", datum.shape.channels, "x", datum.shape.height, "x",
                       datum.shape.width, " (channels, height, width) but holds ",
                       datum.data.size(), " bytes; Feedrate reads 1 or 3 channels"));
    }
    sample.codec = &raw_codec;
    sample.shape = datum.shape;
    if (datum.shape.channels == 3) {
      sample.order = name.empty() ? PixelOrder::planar_rgb : PixelOrder::planar_bgr;
    }
    return sample;
  }
};

const DatumDialect lmdb_datum_row;

}  // namespace

const LmdbDialect& lmdb_datum_dialect = lmdb_datum_row;

}  // namespace feedrate::formats
