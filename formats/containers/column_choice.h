#pragma once
// The columns of a table, or the keys of a record, that hold the images and their labels: those that a path wishes for (wishes.h), else those
// that can be told.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/containers/wishes.h"

namespace feedrate::formats {

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

/// What a path to a table may wish for.
inline constexpr Wish table_wishes[] = {Wish::image, Wish::label};

struct ColumnRole {
  std::string_view name;                // of the wish: "label"
  std::string_view what;                // "labels (whole numbers)"
  std::vector<std::string_view> usual;  // names, the most usual first
  std::string_view thing = "column";    // what is chosen, in a word
};

/// The place of the column that the wish names. Without a wish: of a column with a usual name, preferably
/// one that surely fits; else of the only column that surely fits. Throws Error, which lists the
/// columns and says how to name one, where there is none or it cannot be told.
std::size_t choose_column(std::span<const TableColumn> columns, const ColumnRole& role,
                          const std::string& wish);

}  // namespace feedrate::formats
