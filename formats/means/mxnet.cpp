// MXNet's list of NDArrays, as ImageRecordIter keeps the mean that it computes:
//
//   u64 0x112 | u64 0 | u64 arrays | NDArray … | u64 names | (u64 length, name) …
//   NDArray: u32 magic V2 | i32 storage 0 | u32 dimensions | i64 each | i32 device | i32 its number
//            | i32 type 0 (float32) | values

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "formats/means/rows.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t list_magic = 0x112;
constexpr std::uint32_t array_v1 = 0xF993FAC8;  // 64-bit dimensions, no storage type
constexpr std::uint32_t array_v2 = 0xF993FAC9;
constexpr std::uint32_t array_v3 = 0xF993FACA;  // as V2, written under numpy's rules of shapes
constexpr std::uint32_t max_dimensions = 32;
constexpr std::string_view mean_name = "mean_img";

enum Device : std::int32_t { cpu = 1 };
enum Type : std::int32_t { float32 = 0, float64 = 1 };

class Reader {
 public:
  explicit Reader(Bytes content) : content_(content) {}

  bool done() const { return at_ == content_.size(); }

  template <class T>
  T number() {
    return load_le<T>(take(sizeof(T), "a number").data());
  }

  Bytes take(std::uint64_t size, std::string_view what) {
    if (size > content_.size() - at_) {
      throw Error(join("ends inside ", what, ": byte ", at_, " of ", content_.size(), ", where ",
                       size, " bytes follow"));
    }
    const Bytes taken = content_.subspan(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return taken;
  }

 private:
  Bytes content_;
  std::size_t at_ = 0;
};

std::vector<std::uint64_t> read_dims(Reader& reader) {
  // Before its first version an array began with the number of its dimensions, of 32 bits each.
  const auto magic = reader.number<std::uint32_t>();
  const bool old = magic <= max_dimensions;
  if (!old && magic != array_v1 && magic != array_v2 && magic != array_v3) {
    throw Error(join("has an NDArray of an unknown version, ", magic));
  }
  if (magic == array_v2 || magic == array_v3) {
    if (reader.number<std::int32_t>() != 0) throw Error("has a sparse NDArray, expected a mean");
  }
  const std::uint32_t count = old ? magic : reader.number<std::uint32_t>();
  if (count > max_dimensions) throw Error(join("has an NDArray of ", count, " dimensions"));
  std::vector<std::uint64_t> dims;
  for (std::uint32_t i = 0; i < count; ++i) {
    dims.push_back(old ? reader.number<std::uint32_t>() : reader.number<std::uint64_t>());
  }
  return dims;
}

StoredMean read_array(Reader& reader) {
  std::vector<std::uint64_t> dims = read_dims(reader);
  if (dims.size() == 4 && dims[0] == 1) dims.erase(dims.begin());
  if (dims.size() != 3) {
    throw Error(join("has an NDArray of ", dims.size(), " dimensions, expected 3 (C, H, W)"));
  }
  StoredMean mean{mean_shape(dims[1], dims[2], dims[0]), {}};
  reader.take(2 * sizeof(std::int32_t), "the device");
  const auto type = reader.number<std::int32_t>();
  if (type != float32 && type != float64) {
    throw Error(join("has an NDArray of type ", type, ", expected 0 (float32)"));
  }
  const std::size_t size = type == float32 ? sizeof(float) : sizeof(double);
  const Bytes values = reader.take(mean.shape.bytes() * size, "the values");
  for (std::size_t at = 0; at < values.size(); at += size) {
    mean.values.push_back(type == float32 ? double{load_le<float>(values.data() + at)}
                                          : load_le<double>(values.data() + at));
  }
  return mean;
}

// One name, or none; then nothing follows.
void read_names(Reader& reader) {
  const auto names = reader.number<std::uint64_t>();
  if (names > 1) throw Error(join("has ", names, " names for one array"));
  if (names == 1) reader.take(reader.number<std::uint64_t>(), "the name");
  if (!reader.done()) throw Error("goes on behind its last name");
}

class MxnetMean final : public MeanFormat {
 public:
  MxnetMean()
      : MeanFormat("mxnet", "MXNet's list of NDArrays: planes R, G, B under the name mean_img",
                   ".nd", MeanLayout::planar_rgb) {}

  bool knows(Bytes content) const override {
    return content.size() >= 8 && load_le<std::uint64_t>(content.data()) == list_magic;
  }

  StoredMean read(Bytes content) const override {
    if (!knows(content)) throw Error("is no list of NDArrays: it does not begin with 0x112");
    Reader reader(content);
    reader.take(2 * sizeof(std::uint64_t), "its head");
    const auto arrays = reader.number<std::uint64_t>();
    if (arrays != 1) throw Error(join("holds ", arrays, " arrays, expected the mean alone"));
    StoredMean mean = read_array(reader);
    read_names(reader);
    return mean;
  }

  void write(const StoredMean& mean, OutputFile& file) const override {
    Buffer content;
    constexpr std::size_t around = 200;  // more than stands before and after the values
    content.reserve(around + mean.values.size() * sizeof(float));
    append_le(content, list_magic);
    append_le(content, std::uint64_t{0});
    append_le(content, std::uint64_t{1});
    append_le(content, array_v2);
    append_le(content, std::int32_t{0});
    append_le(content, std::uint32_t{3});
    for (const std::uint32_t side : {mean.shape.channels, mean.shape.height, mean.shape.width}) {
      append_le(content, std::int64_t{side});
    }
    append_le(content, std::int32_t{cpu});
    append_le(content, std::int32_t{0});
    append_le(content, std::int32_t{float32});
    for (const double value : mean.values) append_le(content, static_cast<float>(value));
    append_le(content, std::uint64_t{1});
    append_le(content, std::uint64_t{mean_name.size()});
    append(content, as_bytes(mean_name));
    file.write(content);
  }
};

const MxnetMean row;

}  // namespace

const MeanFormat& mxnet_mean_format = row;

}  // namespace feedrate::formats
