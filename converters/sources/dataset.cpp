// A dataset in one of our formats, or a bare file of another tool, to convert it into another
// format.

#include <algorithm>

#include "converters/sources/dataset_stream.h"
#include "formats/base/error.h"
#include "formats/container.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

const fs::path& only_input(std::span<const fs::path> inputs) {
  if (inputs.size() != 1) {
    throw Error(join("dataset: expected one dataset, found ", inputs.size(), " inputs"));
  }
  return inputs.front();
}

// The datasets that `convert --split all` wrote side by side: PATH/train, PATH/test.
std::vector<std::string> inner_splits(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const char* name : {"train", "val", "test"}) {
    if (fs::exists(path / name / sidecar_name, ignored)) names.emplace_back(name);
  }
  return names;
}

class DatasetSource final : public Source {
 public:
  DatasetSource() : Source("dataset", "any format below, to convert it into another") {}

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    const fs::path& path = only_input(inputs);
    std::vector<std::string> splits = inner_splits(path);
    if (!splits.empty()) return splits;
    const std::optional<Sidecar> sidecar = read_sidecar(path);
    return {sidecar && !sidecar->split.empty() ? sidecar->split : "train"};
  }

  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    return open_dataset_stream(open_dataset(place(inputs, split)));
  }

  std::vector<fs::path> files(std::span<const fs::path> inputs,
                              std::string_view split) const override {
    return {place(inputs, split)};
  }

  std::vector<Sidecar::Input> inputs(std::span<const fs::path> paths,
                                     std::string_view split) const override {
    return {dataset_input(place(paths, split))};
  }

 private:
  static fs::path place(std::span<const fs::path> inputs, std::string_view split) {
    const fs::path& path = only_input(inputs);
    return inner_splits(path).empty() ? path : path / split;
  }
};

const DatasetSource dataset_row;

}  // namespace

const Source& dataset_source = dataset_row;

}  // namespace feedrate::converters
