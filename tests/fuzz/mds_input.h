#pragma once
// Inputs of one MDS shard and its index: u16le size of the index, the index, the shard. Where the index
// has SIZE, it states the shard's size, which a mutation changes too often.

#include <string>

#include "tests/fuzz/indexed.h"

namespace feedrate::fuzz {

inline constexpr std::string_view mds_shard_name = "s.mds";

struct MdsSeed {
  std::string index;
  Buffer shard;
};

struct MdsSeedRow {
  std::string sizes, values;  // both as stored
};

inline Buffer mds_shard(std::initializer_list<MdsSeedRow> rows) {
  Buffer head, samples;
  const std::size_t first = 4 * (rows.size() + 2);
  append_le(head, static_cast<std::uint32_t>(rows.size()));
  append_le(head, static_cast<std::uint32_t>(first));
  for (const MdsSeedRow& row : rows) {
    append(samples, as_bytes(row.sizes));
    append(samples, as_bytes(row.values));
    append_le(head, static_cast<std::uint32_t>(first + samples.size()));
  }
  append(head, samples);
  return head;
}

inline std::string stated_mds_index(Bytes index, std::size_t shard_bytes) {
  constexpr std::string_view size_mark = "SIZE";
  std::string text(as_text(index));
  if (const auto at = text.find(size_mark); at != std::string::npos) {
    text.replace(at, size_mark.size(), std::to_string(shard_bytes));
  }
  return text;
}

/// `compression`: the facts of an index about it.
inline std::vector<MdsSeed> mds_seeds(const std::string& compression) {
  using namespace std::string_literals;
  Buffer encoded;
  png_codec.encode(small_image({2, 3, 1}), encoded);
  const std::string png(as_text(encoded));
  const auto sized = [&](std::size_t size) {
    return std::string{static_cast<char>(size), 0, 0, 0};
  };
  const auto index = [&](std::string_view columns, std::uint64_t samples) {
    return join(R"({"shards":[{"format":"mds",)", compression, R"(,"samples":)", samples,
                R"(,"raw_data":{"basename":"s.mds","bytes":SIZE},)", columns, "}]}");
  };
  const std::string name_and_png = sized(1) + sized(png.size());
  const std::string pil = "\2\0\0\0\1\0\0\0\3\0\0\0RGBabcdef"s;
  return {
      {index(R"("column_names":["name","image","label"],"column_encodings":["str","png","int"],)"
             R"("column_sizes":[null,null,8])",
             2),
       mds_shard({{name_and_png, "a" + png + "\1\0\0\0\0\0\0\0"s},
                  {name_and_png, "b" + png + "\0\0\0\0\0\0\0\0"s}})},
      {index(R"("column_names":["x","y"],"column_encodings":["pil","uint8"],)"
             R"("column_sizes":[null,1])",
             1),
       mds_shard({{sized(pil.size()), pil + "\7"}})},
      {index(R"("column_names":["y","x"],"column_encodings":["int16","bytes"],)"
             R"("column_sizes":[2,null])",
             1),
       mds_shard({{sized(png.size()), "\xff\xff" + png}})},
      {index(R"("column_names":["label","x"],"column_encodings":["str","png"],)"
             R"("column_sizes":[null,null])",
             2),
       mds_shard({{name_and_png, "b" + png}, {name_and_png, "a" + png}})}};
}

}  // namespace feedrate::fuzz
