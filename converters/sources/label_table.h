#pragma once
// The two columns of a list of labels that matter, of whatever form the file has: fields separated by
// tabs, by commas or semicolons (a quoted field may hold some), or by the last blank of a line; with or without
// a header. The first line behind comments ("# …") decides for all.
//
//   filename,width,height,class          the words of a header say which column is which
//   a.jpg,500,375,cat
//   a.jpg TAB cat TAB 0 TAB 32           without a header: the first is the name, the second the label

#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::converters {

struct LabelledName {
  std::string name;
  std::string label;
};

/// The lines in their order, boxes behind a class removed (Kaggle's PredictionString). Throws Error
/// naming file and line for what is no text in UTF-8, for a line without a name and a label or with
/// other fields than the first, and for a header that does not tell which column is the label.
std::vector<LabelledName> read_label_table(const std::filesystem::path& file);

}  // namespace feedrate::converters
