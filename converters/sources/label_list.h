#pragma once
// A list of images and their labels (`--labels`), one image a line:
//
//   ImageId,PredictionString                     Kaggle's ImageNet: the first word is the class,
//   ILSVRC2012_val_00000001,n01751748 111 108 …  then a box
//   val_0.JPEG TAB n03444034 TAB 0 TAB 32 …      Tiny-ImageNet: the second field is the class
//   name,label        name label                 label_table.h says which forms are read
//
// A label is a class's name, or, if all are, a number from 0, which may be written as 1.0. A path to the list may name
// columns: "list.csv?image=file&label=kind".

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace feedrate::converters {

class LabelList {
 public:
  struct Row {
    std::string name;   // of the image, without "/" or "./" in front
    std::string label;  // as written
  };

  /// Throws Error naming the file for what is no table of labels (label_table.h), for a name that
  /// appears twice, and for numbers of which one counts no class.
  explicit LabelList(const std::filesystem::path& from);
  LabelList(const LabelList&) = delete;
  LabelList& operator=(const LabelList&) = delete;

  const std::filesystem::path& file() const { return file_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// True if every label is a number from 0 on.
  bool numbered() const { return numbered_; }
  /// The row of the image with that path, by as much of the path as the list has, with or without
  /// an extension; rows().size() if there is none.
  std::size_t find(std::string_view path) const;
  /// Where the list has none of these paths: leaves out what stands in front of all its names, such as the folder itself
  /// on another machine, as far as needed, and takes backslashes for slashes.
  void fit(std::span<const std::string> paths);

 private:
  std::filesystem::path file_;
  std::vector<Row> rows_;
  std::unordered_map<std::string_view, std::size_t> by_name_;  // views of rows_ or fitted_
  std::vector<std::string> fitted_;                            // the names with slashes
  bool numbered_ = true;
};

}  // namespace feedrate::converters
