#pragma once
// The two columns of a list of labels that matter, of whatever form the file has: fields separated by
// tabs, by commas or semicolons (a quoted field may hold some), or by the last blank of a line; with or without
// a header. The first line behind comments ("# …") decides for all. Wishes behind the path name columns by their titles, or
// by their numbers from 1.
//
//   filename,width,height,class          the words of a header say which column is which
//   a.jpg,500,375,cat
//   a.jpg TAB cat TAB 0 TAB 32           without a header: the first is the name, the second the label
//   3 a.jpg                              but of two, that with the extension of an image is the name
//   Abyssinian_100 1 1 1                 blanks separate three numbers or more

#include <filesystem>
#include <string>
#include <vector>

#include "formats/containers/wishes.h"

namespace feedrate::converters {

struct LabelledName {
  std::string name;
  std::string label;
};

/// The lines in their order, boxes behind a class removed (Kaggle's PredictionString). Throws Error
/// naming file and line for what is no text in UTF-8, for a line without a name and a label or with
/// other fields than the first, and for a header that does not tell which column is the label.
std::vector<LabelledName> read_label_table(const std::filesystem::path& file,
                                           const formats::Wishes& wishes = {});

}  // namespace feedrate::converters
