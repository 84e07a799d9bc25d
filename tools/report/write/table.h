#pragma once
// Table: what a report says in figures, made once and shown on a terminal, on the page and as CSV.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::tools {

/// What stands where nothing was measured.
inline constexpr const char* not_measured = "–";

struct Table {
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string name;
    Align align = Align::right;
  };
  struct Row {
    std::vector<std::string> cells;    // the first names the row
    std::optional<unsigned> series{};  // whose mark stands before it
    bool chosen = false;               // by the verdict
  };
  std::string title;
  std::string note;  // what a reader has to know; may be ""
  std::vector<Column> columns;
  std::vector<Row> rows;
};

/// Lines of at most `columns`, heads broken at blanks; a name that repeats stands once.
std::string table_text(const Table& table, std::size_t columns = 100);
/// <table>…</table>, everything in it escaped.
std::string table_html(const Table& table);
/// RFC 4180, numbers without their grouping commas.
std::string table_csv(const Table& table);

/// Cells.
std::string rate_cell(std::optional<double> value);  // 6,124
std::string percent_cell(std::optional<double> value, int digits = 1);
std::string count_cell(std::optional<unsigned> value);

}  // namespace feedrate::tools
