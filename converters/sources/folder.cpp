// A directory with one sub-directory per class, as torchvision's ImageFolder reads it, or one such
// directory for each split; the same in a tar or zip; or images whose labels a list has.

#include <algorithm>
#include <set>

#include "converters/sources/folder_layout.h"
#include "converters/sources/folder_stream.h"
#include "converters/sources/stored_source.h"
#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/containers/folder/folder_files.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class FolderSource final : public StoredSource {
 public:
  FolderSource()
      : StoredSource(
            "folder",
            "images in one sub-directory per class, as ImageFolder, also in a tar or zip") {}

  bool takes_labels() const override { return true; }

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    const FolderInput input = input_of(inputs);
    return is_dataset(input) ? StoredSource::splits(inputs) : folder_splits(input);
  }
  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    const FolderInput input = input_of(inputs);
    return is_dataset(input) && !has_other_classes_than_train(input.images, split)
               ? StoredSource::open(inputs, split)
               : open_folder_stream(input, split);
  }
  std::vector<fs::path> files(std::span<const fs::path> inputs,
                              std::string_view split) const override {
    const FolderInput input = input_of(inputs);
    return is_dataset(input) ? StoredSource::files(inputs, split)
                             : std::vector(inputs.begin(), inputs.end());
  }
  std::vector<Sidecar::Input> inputs(std::span<const fs::path> paths,
                                     std::string_view split) const override {
    const FolderInput input = input_of(paths);
    if (!fs::is_directory(input.images)) return Source::inputs(paths, split);
    const fs::path own =
        has_other_splits(input.images) ? directory_of(input.images, split) : input.images;
    std::vector<Sidecar::Input> listed = StoredSource::inputs({&own, 1}, split);
    if (input.labels.empty()) return listed;
    for (Sidecar::Input& one : Source::inputs(paths.subspan(1), split)) listed.push_back(one);
    return listed;
  }

 private:
  static FolderInput input_of(std::span<const fs::path> inputs) {
    const bool listed = inputs.size() == 2 && fs::is_regular_file(inputs[1]);
    if ((inputs.size() == 1 || listed) && fs::exists(inputs[0])) {
      return {inputs[0], listed ? inputs[1] : fs::path()};
    }
    throw Error(
        "folder: expected one directory that holds a sub-directory for each class, or one tar or "
        "zip of it");
  }
  // What the format `folder` reads in place: classes, or train, val and test with classes.
  bool is_dataset(const FolderInput& input) const {
    return input.labels.empty() && fs::is_directory(input.images) &&
           !has_other_splits(input.images);
  }

  // Splits as only archives usually have them: Train, validation, TEST.
  bool has_other_splits(const fs::path& folder) const {
    return std::ranges::any_of(sub_directories(folder), [&](const std::string& name) {
      const bool plain = name == "train" || name == "val" || name == "test";
      return !plain && !split_named(name).empty() && is_split(folder / name);
    });
  }
  // Of a split that lies in one named otherwise; else the folder, of which StoredSource knows more.
  static fs::path directory_of(const fs::path& folder, std::string_view split) {
    for (const std::string& name : sub_directories(folder)) {
      if (name != split && split_named(name) == split) return folder / name;
    }
    return folder;
  }

  // Such a split, read by itself, would not have the class numbers of train. One that Feedrate wrote
  // has them in its sidecar.
  bool has_other_classes_than_train(const fs::path& folder, std::string_view split) const {
    const fs::path own = folder / split, trained = folder / "train";
    if (split == "train" || !fs::is_directory(trained) || !is_split(own)) return false;
    return sub_directories(own) != sub_directories(trained) && !open_one(own)->info().sidecar;
  }
  static std::set<std::string> sub_directories(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) names.insert(entry.path().filename().string());
    }
    return names;
  }

  const fs::path& only_input(std::span<const fs::path> inputs) const override {
    return inputs.front();
  }
  // A split, unlike a class, holds directories; images may lie at any depth of these.
  bool is_split(const fs::path& path) const override {
    if (!fs::is_directory(path)) return false;
    if (container("folder").knows(path)) return true;
    bool classes = false;
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with('.')) continue;
      if (!entry.is_directory()) {
        if (has_image_extension(name)) return false;
      } else {
        classes = classes || holds_an_image(entry.path());
      }
    }
    return classes;
  }
  static bool holds_an_image(const fs::path& folder) {
    constexpr auto how = fs::directory_options::follow_directory_symlink |
                         fs::directory_options::skip_permission_denied;
    return std::ranges::any_of(
        fs::recursive_directory_iterator(folder, how),
        [](const auto& entry) { return has_image_extension(entry.path().filename().string()); });
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
