// A directory with one sub-directory per class, as torchvision's ImageFolder reads it, or one such
// directory for each split: train/, val/ and test/.

#include "converters/sources/dataset_stream.h"
#include "formats/base/error.h"
#include "formats/container.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

const fs::path& only_directory(std::span<const fs::path> inputs) {
  if (inputs.size() != 1 || !fs::is_directory(inputs.front())) {
    throw Error("folder: expected one directory that holds a sub-directory for each class");
  }
  return inputs.front();
}

// A split, unlike a class, holds directories.
std::vector<std::string> inner_folders(const fs::path& path) {
  const Container& folders = container("folder");
  std::vector<std::string> names;
  for (const char* name : {"train", "val", "test"}) {
    if (fs::is_directory(path / name) && folders.knows(path / name)) names.emplace_back(name);
  }
  return names;
}

class FolderSource final : public Source {
 public:
  FolderSource() : Source("folder", "images in one sub-directory per class, as ImageFolder") {}

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    std::vector<std::string> splits = inner_folders(only_directory(inputs));
    return splits.empty() ? std::vector<std::string>{"train"} : splits;
  }

  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    return open_dataset_stream(container("folder").open(place(inputs, split)));
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
    const fs::path& path = only_directory(inputs);
    return inner_folders(path).empty() ? path : path / split;
  }
};

const FolderSource folder_row;

}  // namespace

const Source& folder_source = folder_row;

}  // namespace feedrate::converters
