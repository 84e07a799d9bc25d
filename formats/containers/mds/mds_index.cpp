#include "formats/containers/mds/mds_index.h"

#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/containers/column_choice.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<MdsColumn> columns_of(const json& shard) {
  const json &names = shard.at("column_names"), &encodings = shard.at("column_encodings"),
             &sizes = shard.at("column_sizes");
  if (names.size() != encodings.size() || names.size() != sizes.size()) {
    throw Error("its columns have not as many names as encodings and sizes");
  }
  std::vector<MdsColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns.push_back({names.at(i).get<std::string>(), encodings.at(i).get<std::string>(), {}});
    if (!sizes.at(i).is_null()) columns.back().size = sizes.at(i).get<std::uint32_t>();
  }
  return columns;
}

fs::path file_of(const fs::path& directory, const json& from) {
  const std::string name = from.at("basename").get<std::string>();
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") {
    throw Error(join("'", name, "' is no name of a shard"));
  }
  return directory / relative;
}

MdsShard shard_of(const fs::path& directory, const json& from) {
  const json& raw = from.at("raw_data");
  MdsShard shard{.file = file_of(directory, raw),
                 .bytes = raw.at("bytes").get<std::uint64_t>(),
                 .samples = from.at("samples").get<std::uint64_t>(),
                 .columns = columns_of(from),
                 .packed = {},
                 .compression = {}};
  if (from.at("format") != "mds") {
    throw Error(join("'", raw.at("basename").get<std::string>(), "' has the format ",
                     from.at("format").dump(), ", not mds"));
  }
  const json compression = from.value("compression", json());
  std::error_code ignored;
  if (!compression.is_null() && !fs::exists(shard.file, ignored)) {
    shard.packed = file_of(directory, from.at("zip_data"));
    shard.compression = compression.get<std::string>();
  }
  return shard;
}

}  // namespace

fs::path mds_directory(const fs::path& from) {
  const fs::path path = without_wishes(from);
  if (path.filename() != mds_index_name) return path;
  return path.parent_path().empty() ? "." : path.parent_path();
}

std::vector<MdsShard> read_mds_index(const fs::path& directory) {
  const fs::path file = directory / mds_index_name;
  try {
    const json index = json::parse(read_text(file));
    std::vector<MdsShard> shards;
    for (const json& shard : index.at("shards")) shards.push_back(shard_of(directory, shard));
    if (shards.empty()) throw Error("states no shards");
    return shards;
  } catch (const json::exception& error) {
    fail(file, "is no index of an MDS dataset: ", error.what());
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& error) {
    fail(file, error.what());
  }
}

bool has_mds_index(const fs::path& directory) {
  try {
    const json index = json::parse(read_text(directory / mds_index_name));
    return index.at("shards").at(0).at("format") == "mds";
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace feedrate::formats
