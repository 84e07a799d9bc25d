#pragma once
// The columns of a table that a path asks for, behind a question mark, and the choice among those that there are:
// "train.parquet?label=fine_label&image=img", "data/mds?label=class".

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedrate::formats {

struct ColumnWishes {
  std::string image;  // empty: the only one, or the one with the usual name
  std::string label;
};

/// A path without its wishes, and these. A file or directory that has a question mark in its name is a path.
/// Throws Error for a wish of another name.
std::pair<std::filesystem::path, ColumnWishes> split_column_wishes(
    const std::filesystem::path& path);

/// The same path, whatever the wishes are.
std::filesystem::path without_column_wishes(const std::filesystem::path& path);

/// Whether a column can fill a role.
enum class Fit : std::uint8_t {
  no,
  by_name,  // if it has a usual name or is wished for: text may be anything
  yes,
};

struct TableColumn {
  std::string name;   // by which it is wished for
  std::string shown;  // "fine_label (int64)"
  Fit fit = Fit::no;  // of the role that is to be filled
};

struct ColumnRole {
  std::string_view name;                // of the wish: "label"
  std::string_view what;                // "labels (whole numbers)"
  std::vector<std::string_view> usual;  // names, the most usual first
};

/// The place of the column that the wish names. Without a wish: of a column with a usual name, preferably
/// one that surely fits; else of the only column that surely fits. Throws Error, which lists the
/// columns and says how to name one, where there is none or it cannot be told.
std::size_t choose_column(std::span<const TableColumn> columns, const ColumnRole& role,
                          const std::string& wish);

}  // namespace feedrate::formats
