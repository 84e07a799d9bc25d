// Caffe's BlobProto, as compute_image_mean writes it: one image, four legacy dimensions, floats.

#include <array>
#include <optional>

#include "formats/base/error.h"
#include "formats/containers/wire.h"
#include "formats/io/file.h"
#include "formats/means/mean.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view not_a_mean = "no BlobProto, or a damaged one";

constexpr std::uint32_t num_key = wire_key(1, Wire::varint);
constexpr std::uint32_t channels_key = wire_key(2, Wire::varint);
constexpr std::uint32_t height_key = wire_key(3, Wire::varint);
constexpr std::uint32_t width_key = wire_key(4, Wire::varint);
constexpr std::uint32_t data_key = wire_key(5, Wire::delimited);
constexpr std::uint32_t single_data_key = wire_key(5, Wire::fixed32);
constexpr std::uint32_t shape_key = wire_key(7, Wire::delimited);
constexpr std::uint32_t double_data_key = wire_key(8, Wire::delimited);
constexpr std::uint32_t single_double_data_key = wire_key(8, Wire::fixed64);

constexpr std::uint32_t dim_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t single_dim_key = wire_key(1, Wire::varint);

struct Blob {
  std::array<std::uint64_t, 4> legacy{};  // num, channels, height, width
  std::optional<std::vector<std::uint64_t>> dims;
  std::vector<double> floats, doubles;
};

template <class T>
void take_packed(Bytes packed, const WireReader& reader, std::vector<double>& values) {
  if (packed.size() % sizeof(T) != 0) reader.damaged("follows numbers that are not whole");
  if (packed.size() / sizeof(T) > max_mean_values - values.size()) {
    reader.damaged("follows more values than a mean image has");
  }
  for (std::size_t at = 0; at < packed.size(); at += sizeof(T)) {
    values.push_back(load_le<T>(packed.data() + at));
  }
}

std::vector<std::uint64_t> read_dims(WireReader reader) {
  std::vector<std::uint64_t> dims;
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    if (key == single_dim_key) {
      dims.push_back(reader.read_varint());
    } else if (key == dim_key) {
      for (WireReader packed = reader.read_message(); !packed.done();) {
        dims.push_back(packed.read_varint());
      }
    } else {
      reader.skip(key);
    }
  }
  return dims;
}

Blob parse_blob(Bytes message) {
  Blob blob;
  WireReader reader(message, not_a_mean);
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    switch (key) {
      case num_key:
      case channels_key:
      case height_key:
      case width_key:
        blob.legacy[(key >> 3) - 1] = reader.read_varint();
        break;
      case data_key:
        take_packed<float>(reader.read_delimited(), reader, blob.floats);
        break;
      case single_data_key:
        blob.floats.push_back(reader.read_fixed<float>());
        break;
      case double_data_key:
        take_packed<double>(reader.read_delimited(), reader, blob.doubles);
        break;
      case single_double_data_key:
        blob.doubles.push_back(reader.read_fixed<double>());
        break;
      case shape_key:
        blob.dims = read_dims(reader.read_message());
        break;
      default:
        reader.skip(key);
    }
  }
  return blob;
}

// From legacy dimensions, or from a shape of four (1, C, H, W) or three (C, H, W) dimensions.
Shape shape_of(const Blob& blob) {
  std::vector<std::uint64_t> dims(blob.legacy.begin(), blob.legacy.end());
  if (blob.dims) dims = *blob.dims;
  if (dims.size() == 3) dims.insert(dims.begin(), 1);
  if (dims.size() != 4) {
    throw Error(join("has a shape of ", dims.size(), " dimensions, expected 4 (1, C, H, W)"));
  }
  if (dims[0] != 1) throw Error(join("holds ", dims[0], " images, expected one"));
  return mean_shape(dims[2], dims[3], dims[1]);
}

class CaffeMean final : public MeanFormat {
 public:
  CaffeMean()
      : MeanFormat("caffe",
                   "Caffe's BlobProto: planes B, G, R (of a raw LMDB without names R, G, B)",
                   ".binaryproto", MeanLayout::planar_bgr) {}

  bool knows(Bytes) const override { return true; }  // nothing else has this extension

  StoredMean read(Bytes content) const override {
    Blob blob = parse_blob(content);
    StoredMean mean{shape_of(blob), std::move(blob.floats.empty() ? blob.doubles : blob.floats)};
    if (mean.values.size() != mean.shape.bytes()) {
      throw Error(join("states ", mean.shape.channels, "x", mean.shape.height, "x",
                       mean.shape.width, " (channels, height, width) but holds ",
                       mean.values.size(), " values"));
    }
    return mean;
  }

  void write(const StoredMean& mean, OutputFile& file) const override {
    Buffer head;
    append_varint_field(head, num_key, 1);
    append_varint_field(head, channels_key, mean.shape.channels);
    append_varint_field(head, height_key, mean.shape.height);
    append_varint_field(head, width_key, mean.shape.width);
    append_varint(head, data_key);
    append_varint(head, mean.values.size() * sizeof(float));
    for (const double value : mean.values) append_le(head, static_cast<float>(value));
    file.write(head);
  }
};

const CaffeMean caffe_row;

}  // namespace

const MeanFormat& caffe_mean_format = caffe_row;

}  // namespace feedrate::formats
