#pragma once
// Compresses the shards of an MDS dataset as a whole, as Mosaic's MDSWriter(compression=…) leaves
// them; tests/interop/mds.py holds the reader against the real one.

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/converters/make_archive.h"
#include "tests/support/run_program.h"

namespace feedrate::testing {

/// `compression` as the index states it, `filter` as libarchive calls it.
inline void pack_mds(const std::filesystem::path& directory,
                     const std::string& compression = "zstd:3", int filter = ARCHIVE_FILTER_ZSTD) {
  nlohmann::json index = nlohmann::json::parse(slurp(directory / "index.json"));
  for (nlohmann::json& shard : index["shards"]) {
    const std::string name = shard["raw_data"]["basename"];
    const std::string packed = compressed(slurp(directory / name), filter);
    const std::string packed_name = name + "." + compression.substr(0, compression.find(':'));
    write(directory / packed_name, packed);
    std::filesystem::remove(directory / name);
    shard["compression"] = compression;
    shard["zip_data"] = {
        {"basename", packed_name}, {"bytes", packed.size()}, {"hashes", nlohmann::json::object()}};
  }
  write(directory / "index.json", index.dump());
}

}  // namespace feedrate::testing
