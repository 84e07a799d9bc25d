#pragma once
// Table: what a report says in figures, made once and shown on a terminal, on the page and as CSV.

#include <optional>
#include <string>
#include <vector>

namespace feedrate::tools {

/// What stands where nothing was measured.
inline constexpr const char* not_measured = "–";

struct Table {
  struct Row {
    std::vector<std::string> cells;    // the first names the row
    std::optional<unsigned> series{};  // whose colour stands before it
    bool chosen = false;               // by the verdict
  };
  std::string title{};
  std::string note{};  // what a reader has to know
  std::vector<std::string> heads{};
  std::vector<Row> rows{};
};

/// Without the columns in which no row has anything.
Table without_empty_columns(Table table);

/// Words stand to the left, figures to the right. A table wider than `columns` goes on below
/// itself; a name that repeats stands once.
std::string table_text(const Table& table, std::size_t columns = 100);
/// <table>…</table>, everything in it escaped.
std::string table_html(const Table& table);
/// RFC 4180: quoted where a field needs it, empty where nothing was measured.
std::string table_csv(const Table& table);
std::string csv_field(const std::string& text);

/// Cells.
std::string rate_cell(std::optional<double> value);  // 6,124
std::string percent_cell(std::optional<double> value, int digits = 1);

}  // namespace feedrate::tools
