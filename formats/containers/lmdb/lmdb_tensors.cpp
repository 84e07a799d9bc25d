// Caffe2's dialect: an image and a label as TensorProtos, perhaps with a bounding box.
//
// Pixels (BYTE, UINT8) lie as their three dims say: a last one of 1 or 3 is the channels (what the
// tools write), else the first one. make_image_db writes "%08d_path" and B, G, R; make_mnist_db and
// make_cifar_db write bare digits and R, G, B: as for a Datum, the key tells which. STRING is the
// file of an image.

#include <algorithm>
#include <utility>

#include "formats/base/error.h"
#include "formats/containers/lmdb/lmdb_dialect.h"
#include "formats/containers/lmdb/tensor_proto.h"
#include "formats/containers/wire.h"

namespace feedrate::formats {
namespace {

struct Layout {
  Shape shape;
  bool planar = false;
};

bool are_channels(std::int64_t dim) { return dim == 1 || dim == 3; }

Shape shape_of(std::int64_t height, std::int64_t width, std::int64_t channels) {
  const auto side = [](std::int64_t dim) {
    return std::in_range<std::uint32_t>(dim) ? static_cast<std::uint32_t>(dim) : 0;
  };
  return {side(height), side(width), side(channels)};
}

Layout layout_of(const TensorProto& image) {
  const auto& dims = image.dims;
  Layout layout;
  if (image.dim_count == 2) {
    layout.shape = shape_of(dims[0], dims[1], 1);
  } else if (image.dim_count == 3 && are_channels(dims[2])) {
    layout.shape = shape_of(dims[0], dims[1], dims[2]);
  } else if (image.dim_count == 3 && are_channels(dims[0])) {
    layout = {shape_of(dims[1], dims[2], dims[0]), true};
  }
  if (layout.shape.plausible()) return layout;
  std::string list;
  for (std::size_t i = 0; i < std::min(image.dim_count, TensorProto::kept); ++i) {
    list += join(i == 0 ? "" : ", ", dims[i]);
  }
  throw Error(join("the image tensor has ", image.dim_count, " dims (", list,
                   "); expected height, width and 1 or 3 channels, or channels first"));
}

// Pixels kept as numbers, one by one, into `storage`.
Bytes unpack(Bytes packed, std::size_t expected, Buffer& storage) {
  storage.clear();
  for (WireReader reader(packed, "the image tensor is damaged"); !reader.done();) {
    const std::uint64_t value = reader.read_varint();
    if (value > 255) reader.damaged(join("holds ", value, ", which is no pixel"));
    if (storage.size() == expected) reader.damaged("is behind the last pixel");
    storage.push_back(static_cast<std::byte>(value));
  }
  return storage;
}

// The pixels with red and blue in each other's place, in `storage`, where they may be already.
Bytes swap_red_and_blue(Bytes pixels, Buffer& storage) {
  if (pixels.data() != storage.data()) storage.assign(pixels.begin(), pixels.end());
  for (std::size_t i = 0; i + 2 < storage.size(); i += 3) std::swap(storage[i], storage[i + 2]);
  return storage;
}

void read_pixels(const TensorProto& image, bool blue_first, Sample& sample, Scratch& scratch) {
  const Layout layout = layout_of(image);
  const std::size_t expected = layout.shape.bytes();
  const bool numbers = image.bytes.empty() && image.type == TensorProto::uint8;
  sample.bytes = numbers ? unpack(image.packed, expected, scratch.bytes) : image.bytes;
  sample.codec = &raw_codec;
  sample.shape = layout.shape;
  if (sample.bytes.size() != expected) {
    throw Error(join("the image tensor of ", layout.shape.height, "x", layout.shape.width, "x",
                     layout.shape.channels, " holds ", sample.bytes.size(), " bytes"));
  }
  if (layout.shape.channels == 1) return;
  if (layout.planar) {
    sample.order = blue_first ? PixelOrder::planar_bgr : PixelOrder::planar_rgb;
  } else if (blue_first) {
    sample.bytes = swap_red_and_blue(sample.bytes, scratch.bytes);
  }
}

void read_image(const TensorProto& image, Sample& sample, Scratch& scratch) {
  switch (image.type) {
    case TensorProto::byte:
    case TensorProto::uint8:
      read_pixels(image, !sample.name.empty(), sample, scratch);
      return;
    case TensorProto::string:
      if (image.string_count != 1) {
        throw Error(join("the image tensor holds ", image.string_count, " strings, expected one"));
      }
      sample.bytes = image.bytes;
      return;
    default:
      throw Error(join("the image tensor is of type ", image.type,
                       "; Feedrate reads BYTE (3), STRING (4) and UINT8 (6)"));
  }
}

std::int32_t label_in(const TensorProto& label) {
  const bool integer = label.type == TensorProto::int32 || label.type == TensorProto::int64;
  if (!integer || label.number_count != 1 || !std::in_range<std::int32_t>(label.numbers[0])) {
    throw Error(join("the label tensor of type ", label.type, " holds ", label.number_count,
                     " numbers; expected one INT32 (2) or INT64 (10)"));
  }
  return static_cast<std::int32_t>(label.numbers[0]);
}

// Top, left, height, width in pixels of the image.
Box box_in(const TensorProto& tensor, Shape shape) {
  const auto [top, left, height, width] = tensor.numbers;
  const bool fits = tensor.number_count == 4 && top >= 0 && left >= 0 && height > 0 && width > 0 &&
                    top < shape.height && left < shape.width && height <= shape.height - top &&
                    width <= shape.width - left;
  if (!fits) {
    throw Error(join("the box tensor holds ", tensor.number_count, " numbers, expected top, left, ",
                     "height and width of a box in ", shape.height, "x", shape.width, " pixels"));
  }
  const auto part = [](std::int64_t pixels, std::uint32_t side) {
    return static_cast<float>(pixels) / static_cast<float>(side);
  };
  return {part(left, shape.width), part(top, shape.height), part(left + width, shape.width),
          part(top + height, shape.height)};
}

class TensorsDialect final : public LmdbDialect {
 public:
  bool knows(Bytes value) const override {
    return !value.empty() && value.front() == std::byte{0x0a};
  }

  Sample read(const LmdbItem& item, Scratch& scratch) const override {
    const TensorProtos protos = parse_tensor_protos(item.value);
    if (protos.count < 2) {
      throw Error(join("TensorProtos of ", protos.count, " tensors, expected image and label"));
    }
    Sample sample;
    sample.name = name(item.key);
    sample.label = label_in(protos.tensors[1]);
    read_image(protos.tensors[0], sample, scratch);
    if (protos.count == 2) return sample;
    if (sample.codec == nullptr) {  // the box is in pixels
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
    }
    scratch.boxes.assign(1, box_in(protos.tensors[2], sample.shape));
    sample.boxes = scratch.boxes;
    return sample;
  }
};

const TensorsDialect row;

}  // namespace

const LmdbDialect& lmdb_tensors_dialect = row;

}  // namespace feedrate::formats
