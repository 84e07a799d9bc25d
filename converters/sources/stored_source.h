#pragma once
// What the sources `dataset` and `folder` share: the input is one dataset on disk, or a directory
// with one for each split: PATH/train, PATH/val, PATH/test.

#include <memory>

#include "converters/source.h"
#include "formats/dataset.h"

namespace feedrate::converters {

/// The files of a directory, at any depth, as one input.
formats::Sidecar::Input directory_as_input(const std::filesystem::path& directory);

class StoredSource : public Source {
 public:
  using Source::Source;
  bool reads_everything() const override { return true; }
  std::vector<std::string> splits(std::span<const std::filesystem::path> inputs) const override;
  /// The dataset's samples in its own order, with their names, labels, boxes and encoded bytes.
  std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                     std::string_view split) const override;
  /// The directory, or the files of a dataset that was given by one of them.
  std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                           std::string_view split) const override;
  /// One input: the dataset with all files of its directory.
  std::vector<formats::Sidecar::Input> inputs(std::span<const std::filesystem::path> paths,
                                              std::string_view split) const override;

 private:
  /// Throws Error where the inputs are not one path of this source.
  virtual const std::filesystem::path& only_input(
      std::span<const std::filesystem::path> inputs) const = 0;
  /// True if `path`, which may not exist, holds the dataset of a split.
  virtual bool is_split(const std::filesystem::path& path) const = 0;
  /// The split of a dataset that does not lie in the directory of a split.
  virtual std::string own_split(const std::filesystem::path&) const { return "train"; }
  virtual std::unique_ptr<formats::Dataset> open_one(const std::filesystem::path& path) const = 0;

  std::vector<std::string> inner_splits(const std::filesystem::path& path) const;
  std::filesystem::path dataset_of(std::span<const std::filesystem::path> inputs,
                                   std::string_view split) const;
};

}  // namespace feedrate::converters
