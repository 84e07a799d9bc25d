// A directory with one sub-directory per class, as torchvision's ImageFolder reads it, or one such
// directory for each split.

#include "converters/sources/stored_source.h"
#include "formats/base/error.h"
#include "formats/container.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class FolderSource final : public StoredSource {
 public:
  FolderSource()
      : StoredSource("folder", "images in one sub-directory per class, as ImageFolder") {}

 private:
  const fs::path& only_input(std::span<const fs::path> inputs) const override {
    if (inputs.size() == 1 && fs::is_directory(inputs.front())) return inputs.front();
    throw Error("folder: expected one directory that holds a sub-directory for each class");
  }
  // A split, unlike a class, holds directories.
  bool is_split(const fs::path& path) const override {
    return fs::is_directory(path) && container("folder").knows(path);
  }
  std::unique_ptr<Dataset> open_one(const fs::path& path) const override {
    std::unique_ptr<Dataset> dataset = container("folder").open(path);
    expect_whole(dataset->info());
    return dataset;
  }
};

const FolderSource folder_row;

}  // namespace

const Source& folder_source = folder_row;

}  // namespace feedrate::converters
