#pragma once
// Table: cells of text, written for a terminal, as HTML and as Markdown. Pure functions.

#include <optional>
#include <string>
#include <vector>

namespace feedrate::tools {

/// The cell of a value that was not measured.
inline constexpr const char* not_measured = "–";

struct Table {
  struct Row {
    std::vector<std::string> cells;    // the first is the row's name
    std::optional<unsigned> series{};  // the series that gives the row its colour
    bool chosen = false;               // marked as the verdict's choice
  };
  std::string title{};
  std::string note{};  // explains the columns; shown on the page only
  std::vector<std::string> heads{};
  std::vector<Row> rows{};
};

/// Drops the columns in which no row has a value.
Table without_empty_columns(Table table);

/// Text is aligned left, numbers right. Columns beyond the width of `columns` characters continue
/// below, again with the names; a name that repeats is shown once. Long heads take several lines.
std::string table_text(const Table& table, std::size_t columns = 100);
/// <table>…</table>, with all text escaped.
std::string table_html(const Table& table);
/// With pipes, as GitHub reads it, and all text escaped.
std::string table_markdown(const Table& table);
/// Text that Markdown shows as it is: no links, no HTML, no emphasis.
std::string escape_markdown(std::string_view text);

/// "6,124" and "98.2 %"; `not_measured` for no value.
std::string rate_cell(std::optional<double> value);
std::string percent_cell(std::optional<double> value, int digits = 1);

}  // namespace feedrate::tools
