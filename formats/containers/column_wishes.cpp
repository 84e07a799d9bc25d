#include "formats/containers/column_wishes.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

std::string list_of(std::span<const TableColumn> columns) {
  std::string all;
  for (const TableColumn& column : columns) all += join(all.empty() ? "" : ", ", column.shown);
  return all;
}

}  // namespace

fs::path without_column_wishes(const fs::path& path) {
  const std::string text = path.string();
  std::error_code ignored;
  return fs::exists(path, ignored) ? path : fs::path(text.substr(0, text.rfind('?')));
}

std::pair<fs::path, ColumnWishes> split_column_wishes(const fs::path& path) {
  const std::string text = path.string();
  const fs::path data = without_column_wishes(path);
  if (data == path) return {path, {}};
  ColumnWishes wishes;
  std::string_view left = std::string_view(text).substr(data.string().size() + 1);
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    const std::size_t equals = std::min(one.find('='), one.size());
    const std::string_view name = one.substr(0, equals);
    const std::string_view value = one.substr(std::min(equals + 1, one.size()));
    if ((name != "image" && name != "label") || value.empty()) {
      fail(path, "expected ?image=COLUMN, ?label=COLUMN or both with & behind the path, found '",
           one, "'");
    }
    (name == "image" ? wishes.image : wishes.label) = value;
  }
  return {data, wishes};
}

std::size_t choose_column(std::span<const TableColumn> columns, const ColumnRole& role,
                          const std::string& wish) {
  const auto place = [&](const auto column) {
    return static_cast<std::size_t>(column - columns.begin());
  };
  const auto named = [&](std::string_view name, Fit least) {
    return std::ranges::find_if(
        columns, [&](const TableColumn& one) { return one.fit >= least && one.name == name; });
  };
  const auto chosen = [&](const auto column, Fit least) {
    const auto alike = std::ranges::count_if(columns, [&](const TableColumn& one) {
      return one.fit >= least && one.name == column->name;
    });
    if (alike == 1) return place(column);
    throw Error(
        join("has ", alike, " columns of the name '", column->name, "': ", list_of(columns)));
  };
  const std::string how =
      join("; behind the path, ?", role.name, "=COLUMN names it. It has ", list_of(columns));
  if (!wish.empty()) {
    if (const auto at = named(wish, Fit::by_name); at != columns.end()) {
      return chosen(at, Fit::by_name);
    }
    throw Error(join("has no column '", wish, "' of ", role.what, how));
  }
  for (const Fit least : {Fit::yes, Fit::by_name}) {
    for (const std::string_view usual : role.usual) {
      if (const auto at = named(usual, least); at != columns.end()) return chosen(at, least);
    }
  }
  // A column of numbers beside a label of another kind would be taken for it.
  for (const TableColumn& column : columns) {
    if (std::ranges::find(role.usual, column.name) != role.usual.end()) {
      throw Error(join("has a column '", column.name, "', but not of ", role.what, how));
    }
  }
  const auto only = std::ranges::find(columns, Fit::yes, &TableColumn::fit);
  const auto fitting = std::ranges::count(columns, Fit::yes, &TableColumn::fit);
  if (fitting == 1) return place(only);
  const bool perhaps = std::ranges::find(columns, Fit::by_name, &TableColumn::fit) != columns.end();
  const std::string_view found = fitting > 0 ? "several columns"
                                 : perhaps   ? "no column that is surely one"
                                             : "no column";
  throw Error(join("has ", found, " of ", role.what, how));
}

}  // namespace feedrate::formats
