#include "formats/containers/column_choice.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

std::string list_of(std::span<const TableColumn> columns) {
  std::string all;
  for (const TableColumn& column : columns) all += join(all.empty() ? "" : ", ", column.shown);
  return all;
}

}  // namespace

std::size_t choose_column(std::span<const TableColumn> columns, const ColumnRole& role,
                          const std::string& wish) {
  const std::string_view thing = role.thing;
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
        join("has ", alike, " ", thing, "s of the name '", column->name, "': ", list_of(columns)));
  };
  const std::string how =
      join("; behind the path, ?", role.name, "=", thing == "key" ? "KEY" : "COLUMN",
           " names it. It has ", list_of(columns));
  if (!wish.empty()) {
    if (const auto at = named(wish, Fit::by_name); at != columns.end()) {
      return chosen(at, Fit::by_name);
    }
    throw Error(join("has no ", thing, " '", wish, "' of ", role.what, how));
  }
  for (const Fit least : {Fit::yes, Fit::by_name}) {
    for (const std::string_view usual : role.usual) {
      if (const auto at = named(usual, least); at != columns.end()) return chosen(at, least);
    }
  }
  // A column of numbers beside a label of another kind would be taken for it.
  for (const TableColumn& column : columns) {
    if (std::ranges::find(role.usual, column.name) != role.usual.end()) {
      throw Error(join("has a ", thing, " '", column.name, "', but not of ", role.what, how));
    }
  }
  const auto only = std::ranges::find(columns, Fit::yes, &TableColumn::fit);
  const auto fitting = std::ranges::count(columns, Fit::yes, &TableColumn::fit);
  if (fitting == 1) return place(only);
  const bool perhaps = std::ranges::find(columns, Fit::by_name, &TableColumn::fit) != columns.end();
  const std::string found = fitting > 0 ? join("several ", thing, "s")
                            : perhaps   ? join("no ", thing, " that is surely one")
                                        : join("no ", thing);
  throw Error(join("has ", found, " of ", role.what, how));
}

}  // namespace feedrate::formats
