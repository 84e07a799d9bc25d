// A directory with one sub-directory per class, as torchvision's ImageFolder reads it, or one such
// directory for each split; the same in a tar or zip; or images whose labels a list has.

#include "converters/sources/folder_stream.h"
#include "converters/sources/stored_source.h"
#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/containers/folder/digest_list.h"
#include "formats/containers/wishes.h"
#include "formats/sidecar.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// Feedrate's own folders state their labels and keep their order beside the images.
bool is_ours(const fs::path& folder) {
  return fs::exists(sidecar_file(folder)) || fs::exists(folder / digest_list_name);
}

class FolderSource final : public StoredSource {
 public:
  FolderSource()
      : StoredSource(
            "folder",
            "one directory of images per class, as for ImageFolder, also in a tar or zip") {}

  bool takes_labels() const override { return true; }

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    const FolderInput input = input_of(inputs);
    return is_dataset(input) ? StoredSource::splits(inputs) : folder_splits(input);
  }
  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    const FolderInput input = input_of(inputs);
    return is_dataset(input) ? StoredSource::open(inputs, split) : open_folder_stream(input, split);
  }
  std::vector<fs::path> files(std::span<const fs::path> inputs,
                              std::string_view split) const override {
    const FolderInput input = input_of(inputs);
    if (is_dataset(input)) return StoredSource::files(inputs, split);
    std::vector<fs::path> files{input.images};
    if (!input.labels.empty()) files.push_back(without_wishes(input.labels));
    return files;
  }
  std::vector<Sidecar::Input> inputs(std::span<const fs::path> paths,
                                     std::string_view split) const override {
    const FolderInput input = input_of(paths);
    if (is_dataset(input)) return StoredSource::inputs(paths, split);
    if (!fs::is_directory(input.images)) return Source::inputs(paths, split);
    std::vector<Sidecar::Input> listed{directory_as_input(folder_split_directory(input, split))};
    if (input.labels.empty()) return listed;
    const fs::path list[] = {without_wishes(input.labels)};
    for (Sidecar::Input& one : Source::inputs(list, split)) listed.push_back(one);
    return listed;
  }

 private:
  static FolderInput input_of(std::span<const fs::path> inputs) {
    const bool listed = inputs.size() == 2 && fs::is_regular_file(without_wishes(inputs[1]));
    if ((inputs.size() == 1 || listed) && fs::exists(inputs[0])) {
      if (!fs::is_directory(inputs[0]) && !fs::is_regular_file(inputs[0])) {
        fail(inputs[0],
             "is not a regular file; an archive of a folder is read twice, so a pipe must become a "
             "file first");
      }
      return {inputs[0], listed ? inputs[1] : fs::path()};
    }
    throw Error(
        "folder: expected one directory that holds a sub-directory for each class, or one tar or "
        "zip of it");
  }
  // A folder that Feedrate wrote, or one for each split.
  static bool is_dataset(const FolderInput& input) {
    const fs::path& folder = input.images;
    return input.labels.empty() && (is_ours(folder) || is_ours(folder / "train") ||
                                    is_ours(folder / "val") || is_ours(folder / "test"));
  }

  const fs::path& only_input(std::span<const fs::path> inputs) const override {
    return inputs.front();
  }
  bool is_split(const fs::path& path) const override { return container("folder").knows(path); }
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
