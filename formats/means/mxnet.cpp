// MXNet's list of NDArrays, in which ImageRecordIter of MXNet 1.0 and newer stores the mean that it
// computes. Only the sizes and values differ from file to file:
//
//   head    u64 0x112 | u64 0 | u64 1 array | u32 0xF993FAC9 (version 2) | i32 storage 0 (dense)
//           | u32 3 dimensions
//   sizes   i64 channels | i64 height | i64 width
//   type    i32 device 1 (CPU) | i32 its number 0 | i32 0 (float32)
//   values  f32 each, planes R, G, B
//   end     u64 1 name | u64 8 | "mean_img"

#include <algorithm>
#include <array>

#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t list_magic = 0x112;
constexpr std::uint32_t array_version_2 = 0xF993FAC9;
constexpr std::array mean_name = {'m', 'e', 'a', 'n', '_', 'i', 'm', 'g'};

template <class... Values>
Buffer bytes_of(Values... values) {
  Buffer bytes((sizeof(values) + ...));
  std::byte* at = bytes.data();
  ((std::memcpy(at, &values, sizeof(values)), at += sizeof(values)), ...);
  return bytes;
}

Buffer list_head() {
  return bytes_of(list_magic, std::uint64_t{0}, std::uint64_t{1}, array_version_2, std::int32_t{0},
                  std::uint32_t{3});
}

Buffer value_type() { return bytes_of(std::int32_t{1}, std::int32_t{0}, std::int32_t{0}); }

Buffer list_end() { return bytes_of(std::uint64_t{1}, std::uint64_t{mean_name.size()}, mean_name); }

// Takes the first `size` bytes off `rest`.
Bytes take(Bytes& rest, std::uint64_t size, std::string_view what) {
  if (size > rest.size()) {
    throw Error(join("ends inside ", what, ": ", rest.size(), " bytes of ", size));
  }
  const Bytes taken = rest.first(static_cast<std::size_t>(size));
  rest = rest.subspan(taken.size());
  return taken;
}

void expect(Bytes& rest, const Buffer& expected, std::string_view what) {
  const Bytes found = take(rest, expected.size(), what);
  if (!std::ranges::equal(found, expected)) {
    throw Error(join("expected ", what, " (", hex(expected), "), found ", hex(found)));
  }
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
    if (!knows(content)) throw Error("is not a list of NDArrays: it does not begin with 0x112");
    expect(content, list_head(),
           "the head of a list of one dense NDArray, version 2, of 3 dimensions");
    const Bytes sizes = take(content, 3 * sizeof(std::uint64_t), "the sizes");
    const auto size = [&](std::size_t i) { return load_le<std::uint64_t>(&sizes[i * 8]); };
    StoredMean mean{mean_shape(size(1), size(2), size(0)), {}};
    expect(content, value_type(), "the type of float32 values on a CPU");
    const Bytes values = take(content, mean.shape.bytes() * sizeof(float), "the values");
    for (std::size_t at = 0; at < values.size(); at += sizeof(float)) {
      mean.values.push_back(load_le<float>(values.data() + at));
    }
    expect(content, list_end(), "one name, mean_img");
    if (!content.empty()) throw Error("has data after the name mean_img");
    return mean;
  }

  void write(const StoredMean& mean, OutputFile& file) const override {
    Buffer content = list_head();
    for (const std::uint32_t size : {mean.shape.channels, mean.shape.height, mean.shape.width}) {
      append_le(content, std::int64_t{size});
    }
    append(content, value_type());
    for (const double value : mean.values) append_le(content, static_cast<float>(value));
    append(content, list_end());
    file.write(content);
  }
};

const MxnetMean mxnet_row;

}  // namespace

const MeanFormat& mxnet_mean_format = mxnet_row;

}  // namespace feedrate::formats
