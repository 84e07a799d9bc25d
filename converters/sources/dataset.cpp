// A dataset in one of our formats, or a bare file of another tool, to convert it into another
// format.

#include "converters/sources/stored_source.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class DatasetSource final : public StoredSource {
 public:
  DatasetSource() : StoredSource("dataset", "any format below, to convert it into another") {}

 private:
  const fs::path& only_input(std::span<const fs::path> inputs) const override {
    if (inputs.size() == 1) return inputs.front();
    throw Error(join("dataset: expected one dataset, found ", inputs.size(), " inputs"));
  }
  // `convert --split all` writes splits side by side.
  bool is_split(const fs::path& path) const override {
    std::error_code ignored;
    return fs::exists(path / sidecar_name, ignored);
  }
  std::string own_split(const fs::path& path) const override {
    const std::optional<Sidecar> sidecar = read_sidecar(path);
    return sidecar && !sidecar->split.empty() ? sidecar->split : "train";
  }
  std::unique_ptr<Dataset> open_one(const fs::path& path) const override {
    return open_dataset(path);
  }
};

const DatasetSource dataset_row;

}  // namespace

const Source& dataset_source = dataset_row;

}  // namespace feedrate::converters
