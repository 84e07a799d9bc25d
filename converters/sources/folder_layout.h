#pragma once
// What the paths of a folder's images mean: which split they belong to, and which class.
//
//   ILSVRC/Data/CLS-LOC / train / n01440764 / n01440764_10026.JPEG
//   in front of all       split   class       the rest
//
// Directories in front of all images do not count, down to those named like splits (train, Val …).
// Without directories named so, everything is the split "train". A class is the first directory in a split, with
// images or without, unless a list names the split's images; then directories do not matter.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "converters/sources/label_list.h"

namespace feedrate::converters {

/// The images of one split, in the order of the paths.
struct FolderSplit {
  static constexpr std::int32_t elsewhere = -1;  // the label of an image of another split
  static constexpr std::int32_t unlisted =
      -2;  // of an image that the list does not name: a bad sample

  std::vector<std::int32_t> labels;  // one for each path
  std::uint64_t images = 0;
  std::uint32_t classes = 0;
  std::vector<std::string> class_names;          // sorted; none if a list has numbers
  std::size_t front = 0;                         // bytes of a path in front of the sample's name
  std::vector<std::string> absent;               // names in the list without an image: bad samples
  std::string unlisted_problem, absent_problem;  // which these are, of all
};

class FolderLayout {
 public:
  /// `where` is the archive or directory for error messages; `directories` may be classes without
  /// images. Throws Error if there are no images, or where a directory may be a split or a class.
  FolderLayout(std::string where, std::vector<std::string> paths,
               const std::set<std::string>& directories = {});

  /// In the order train, val, test, then others; in lower case.
  const std::vector<std::string>& splits() const { return splits_; }
  /// Images beside the directories of splits, which belong to none, and the first of them.
  std::uint64_t beside() const { return beside_; }
  const std::string& first_beside() const { return first_beside_; }
  /// The numbers of classes are the same for all splits. Throws Error for an image without a class;
  /// for a class that "train" does not have, of a directory or of a list that does not name train; for images
  /// where `list` (may be null) names images of which none is here. Images that it does not name, and names in it
  /// without an image, are bad samples.
  FolderSplit split(std::string_view name, const LabelList* list) const;

  const std::vector<std::string>& paths() const { return paths_; }
  /// The places in paths() of the split's images as ImageFolder sorts them: by class, by directory, by
  /// name.
  std::vector<std::size_t> sorted(const FolderSplit& split) const;
  /// The directory that holds all of the split: "ILSVRC/Data/CLS-LOC/train"; "" for the whole folder.
  std::string directory_of(std::string_view split) const;

 private:
  // What a list says of these images.
  struct Listed {
    const LabelList& list;
    bool names_train;    // some of its images
    bool names_classes;  // by its labels; otherwise they are numbers
  };

  void find_front();
  void find_splits();
  Listed listed(const LabelList& list) const;
  std::string_view split_of(std::string_view path) const;  // empty: beside all
  std::string_view inside(std::string_view path) const;    // its split
  std::string_view class_of(std::string_view path) const;
  std::vector<std::string> classes_of(std::string_view split) const;
  std::vector<std::string> classes_of_list(const Listed& listed) const;
  std::uint32_t classes_of_numbers(const Listed& listed) const;
  bool take_from_list(std::string_view name, const Listed& listed, FolderSplit& found) const;
  void take_from_directories(std::string_view name, const Listed* listed, FolderSplit& found) const;

  std::string where_;
  std::vector<std::string> paths_;
  std::vector<std::string> directories_;  // each with a slash behind, in front_
  std::size_t front_ = 0;                 // bytes in front of the split or the class
  bool has_splits_ = false;
  std::vector<std::string> splits_;
  std::string trained_ = "train";  // the split whose classes count
  std::uint64_t beside_ = 0;
  std::string first_beside_;
};

}  // namespace feedrate::converters
