// index.json of Mosaic's streaming datasets and one shard: u16le size of the index, the index, the
// shard. Where the index has SIZE, it states the shard's size, which a mutation changes too often.

#include <string>

#include "tests/fuzz/indexed.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

using namespace std::string_literals;

constexpr std::string_view shard_name = "s.mds";
constexpr std::string_view size_mark = "SIZE";

struct Row {
  std::string sizes, values;  // both as stored
};

Buffer shard(std::initializer_list<Row> rows) {
  Buffer head, samples;
  const std::size_t first = 4 * (rows.size() + 2);
  append_le(head, static_cast<std::uint32_t>(rows.size()));
  append_le(head, static_cast<std::uint32_t>(first));
  for (const Row& row : rows) {
    append(samples, as_bytes(row.sizes));
    append(samples, as_bytes(row.values));
    append_le(head, static_cast<std::uint32_t>(first + samples.size()));
  }
  append(head, samples);
  return head;
}

Buffer input(std::string_view columns, std::uint64_t samples, const Buffer& file) {
  const std::string index =
      join(R"({"shards":[{"format":"mds","compression":null,"samples":)", samples,
           R"(,"raw_data":{"basename":"s.mds","bytes":SIZE},)", columns, "}]}");
  return join_input(as_bytes(index), file);
}

std::string stated(Bytes index, std::size_t shard_bytes) {
  std::string text(as_text(index));
  if (const auto at = text.find(size_mark); at != std::string::npos) {
    text.replace(at, size_mark.size(), std::to_string(shard_bytes));
  }
  return text;
}

}  // namespace

std::vector<Buffer> seeds() {
  Buffer encoded;
  png_codec.encode(small_image({2, 3, 1}), encoded);
  const std::string png(as_text(encoded));
  const auto sized = [&](std::size_t size) {
    return std::string{static_cast<char>(size), 0, 0, 0};
  };
  const std::string name_and_png = sized(1) + sized(png.size());
  const std::string pil = "\2\0\0\0\1\0\0\0\3\0\0\0RGBabcdef"s;
  return {
      input(R"("column_names":["name","image","label"],"column_encodings":["str","png","int"],)"
            R"("column_sizes":[null,null,8])",
            2,
            shard({{name_and_png, "a" + png + "\1\0\0\0\0\0\0\0"s},
                   {name_and_png, "b" + png + "\0\0\0\0\0\0\0\0"s}})),
      input(
          R"("column_names":["x","y"],"column_encodings":["pil","uint8"],"column_sizes":[null,1])",
          1, shard({{sized(pil.size()), pil + "\7"}})),
      input(R"("column_names":["y","x"],"column_encodings":["int16","bytes"],)"
            R"("column_sizes":[2,null])",
            1, shard({{sized(png.size()), "\xff\xff" + png}}))};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const IndexedInput input = split_input(fenced(data, size));
  file_of(input.file, shard_name);
  const auto index = file_of(as_bytes(stated(input.index, input.file.size())), "index.json");
  samples_of(container("mds"), index);
  return 0;
}
