#include "tools/lab/report/write/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/report/draw/svg.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t gap = 2;         // between columns
constexpr std::size_t max_width = 30;  // of a column

bool is_text(const Table& table, std::size_t column) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  return column == 0 || std::ranges::any_of(table.rows, [&](const Table::Row& row) {
           return row.cells[column].find_first_of(letters) != std::string::npos;
         });
}

/// A column's head and cells, padded or cut to one width.
std::vector<std::string> column_cells(const Table& table, std::size_t column) {
  std::vector<std::string> cells{table.heads[column]};
  std::string last;
  for (const Table::Row& row : table.rows) {
    const std::string cell = harmless(row.cells[column]);
    const bool repeats = std::exchange(last, cell) == cell;
    cells.push_back(column == 0 && repeats ? "" : cell);
  }
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, columns_of(cell));
  width = std::min(width, max_width);
  for (std::string& cell : cells) {
    const std::size_t used = columns_of(cell);
    const bool is_left = used >= width || is_text(table, column);
    cell = !is_left      ? std::string(width - used, ' ') + cell
           : column == 0 ? fitted_name(cell, width)
                         : fitted(cell, width);
  }
  return cells;
}

}  // namespace

Table without_empty_columns(Table table) {
  for (std::size_t i = table.heads.size(); i-- > 0;) {
    const auto is_empty = [&](const Table::Row& row) { return row.cells[i] == not_measured; };
    if (!std::ranges::all_of(table.rows, is_empty)) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.heads.erase(table.heads.begin() + at);
    for (Table::Row& row : table.rows) row.cells.erase(row.cells.begin() + at);
  }
  return table;
}

std::string table_text(const Table& table, std::size_t columns) {
  const std::vector<std::string> names = column_cells(table, 0);
  std::vector<std::string> lines;
  std::string text;
  const auto finish = [&] {
    for (std::string& line : lines) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    lines.clear();
  };
  for (std::size_t i = 1; i < table.heads.size(); ++i) {
    const std::vector<std::string> cells = column_cells(table, i);
    if (!lines.empty() && columns_of(lines[0]) + gap + columns_of(cells[0]) > columns) finish();
    if (lines.empty()) {
      for (std::size_t k = 0; k < names.size(); ++k) {
        lines.push_back((k > 0 && table.rows[k - 1].chosen ? "→ " : "  ") + names[k]);
      }
    }
    for (std::size_t k = 0; k < cells.size(); ++k) lines[k] += std::string(gap, ' ') + cells[k];
  }
  finish();
  return text;
}

std::string table_html(const Table& table) {
  std::vector<std::string_view> classes;
  std::string text = "<table><thead><tr>";
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    classes.push_back(is_text(table, i) ? " class=\"text\"" : "");
    text += fmt::format("<th scope=\"col\"{}>{}</th>", classes[i], escape_markup(table.heads[i]));
  }
  text += "</tr></thead><tbody>\n";
  for (const Table::Row& row : table.rows) {
    const std::string series = row.series ? series_class(*row.series) : "";
    text += fmt::format("<tr class=\"{}{}\"><th scope=\"row\">{}{}</th>", series,
                        row.chosen ? " chosen" : "", escape_markup(row.cells.front()),
                        row.chosen ? "<span class=\"tag\">chosen</span>" : "");
    for (std::size_t i = 1; i < row.cells.size(); ++i) {
      text += fmt::format("<td{}>{}</td>", classes[i], escape_markup(row.cells[i]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>";
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*[]|").find(c) != std::string_view::npos) escaped += '\\';
    if (c == '<' || c == '&') {
      escaped += c == '<' ? "&lt;" : "&amp;";
    } else {
      escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

std::string table_markdown(const Table& table) {
  std::string heads, rule = "|", rows;
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    heads += "| " + escape_markdown(table.heads[i]) + " ";
    rule += is_text(table, i) ? "---|" : "--:|";
  }
  for (const Table::Row& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string cell = escape_markdown(row.cells[i]);
      rows += "| " + (row.chosen && i == 0 ? "**" + cell + "** (chosen)" : cell) + " ";
    }
    rows += "|\n";
  }
  return heads + "|\n" + rule + "\n" + rows;
}

std::string rate_cell(std::optional<double> value) {
  return value ? quantity(*value) : not_measured;
}

std::string percent_cell(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f} %", *value, digits) : not_measured;
}

}  // namespace feedrate::tools
