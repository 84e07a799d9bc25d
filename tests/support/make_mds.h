#pragma once
// A writer of small MDS datasets, as Mosaic's MDSWriter makes them of images and labels;
// tests/interop/mds.py holds the reader against the real one.

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/error.h"

namespace feedrate::testing {
using namespace formats;

struct MdsRow {
  std::string image;  // as its column is encoded
  std::int64_t label = 0;
  std::string text = {};  // in place of the label
};

enum class MdsLabels { numbers, texts };

/// A shard of each list of rows, and index.json.
inline void make_mds(const std::filesystem::path& directory,
                     const std::vector<std::vector<MdsRow>>& shards,
                     MdsLabels labels = MdsLabels::numbers, const std::string& images = "jpeg") {
  const bool texts = labels == MdsLabels::texts;
  std::filesystem::create_directories(directory);
  std::string facts;
  for (const std::vector<MdsRow>& rows : shards) {
    Buffer head, samples;
    append_le(head, static_cast<std::uint32_t>(rows.size()));
    const std::size_t first = (rows.size() + 2) * sizeof(std::uint32_t);
    for (const MdsRow& row : rows) {
      append_le(head, static_cast<std::uint32_t>(first + samples.size()));
      append_le(samples, static_cast<std::uint32_t>(row.image.size()));
      if (texts) append_le(samples, static_cast<std::uint32_t>(row.text.size()));
      append(samples, as_bytes(row.image));
      if (texts) {
        append(samples, as_bytes(row.text));
      } else {
        append_le(samples, row.label);
      }
    }
    append_le(head, static_cast<std::uint32_t>(first + samples.size()));
    append(head, samples);
    const std::string name = join("shard.0000", &rows - shards.data(), ".mds");
    std::ofstream(directory / name, std::ios::binary) << as_text(head);
    facts += join(facts.empty() ? "" : ",", R"({"format":"mds","version":2,"compression":null,)",
                  R"("column_names":["image","label"],"column_encodings":[")", images, R"(",")",
                  texts ? "str" : "int", R"("],"column_sizes":[null,)", texts ? "null" : "8",
                  R"(],"samples":)", rows.size(), R"(,"raw_data":{"basename":")", name,
                  R"(","bytes":)", head.size(), "}}");
  }
  std::ofstream(directory / "index.json") << R"({"version":2,"shards":[)" << facts << "]}";
}

}  // namespace feedrate::testing
