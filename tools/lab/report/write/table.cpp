#include "tools/lab/report/write/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/lab/report/draw/svg.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t gap = 2;         // between columns
constexpr std::size_t max_width = 30;  // of a column, but for names that need more

bool is_text(const Table& table, std::size_t column) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  return column == 0 || std::ranges::any_of(table.rows, [&](const Table::Row& row) {
           return row.cells[column].find_first_of(letters) != std::string::npos;
         });
}

/// A head, on as many lines as it needs, and a cell for each row, all of them `width` wide.
struct Column {
  std::vector<std::string> head;
  std::vector<std::string> cells;
  std::size_t width = 0;
};

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, columns_of(text));
  return width;
}

/// The least width from max_width on at which different names are not cut alike.
std::size_t width_of_names(const std::vector<std::string>& names) {
  const std::size_t longest = widest(names);
  const std::set<std::string> different(names.begin(), names.end());
  for (std::size_t width = max_width; width < longest; ++width) {
    std::set<std::string> cut;
    for (const std::string& name : different) cut.insert(fitted_name(name, width));
    if (cut.size() == different.size()) return width;
  }
  return longest;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream wrapped_text(wrapped(text, 0, max_width));
  for (std::string line; std::getline(wrapped_text, line);) lines.push_back(line);
  return lines;
}

Column column_at(const Table& table, std::size_t at) {
  Column column;
  column.head = lines_of(harmless(table.heads[at]));
  for (const Table::Row& row : table.rows) column.cells.push_back(harmless(row.cells[at]));
  const std::size_t cells =
      at == 0 ? width_of_names(column.cells) : std::min(max_width, widest(column.cells));
  column.width = std::max(cells, std::min(max_width, widest(column.head)));
  const auto fit = [&, is_name = at == 0, is_left = is_text(table, at)](std::string& cell) {
    const std::size_t used = columns_of(cell);
    const bool is_right = !is_left && used < column.width;
    cell = is_right  ? std::string(column.width - used, ' ') + cell
           : is_name ? fitted_name(cell, column.width)
                     : fitted(cell, column.width);
  };
  std::ranges::for_each(column.head, fit);
  std::string last;
  for (std::string& cell : column.cells) {
    const bool repeats = std::exchange(last, cell) == cell;
    if (at == 0 && repeats) cell.clear();
    fit(cell);
  }
  return column;
}

/// Columns side by side, whose heads end on one line.
std::string block_text(const Table& table, const std::vector<Column>& block) {
  std::size_t height = 0;
  for (const Column& column : block) height = std::max(height, column.head.size());
  std::vector<std::string> lines(height + table.rows.size(), "  ");
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    if (table.rows[k].chosen) lines[height + k] = "→ ";
  }
  for (const Column& column : block) {
    const std::size_t above = height - column.head.size();
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (&column != &block.front()) lines[k].append(gap, ' ');
      lines[k] += k < above    ? std::string(column.width, ' ')
                  : k < height ? column.head[k - above]
                               : column.cells[k - height];
    }
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
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
  std::string text;
  std::vector<Column> block;
  std::size_t used = 0;
  for (std::size_t i = 1; i < table.heads.size(); ++i) {
    Column next = column_at(table, i);
    if (!block.empty() && used + gap + next.width > columns) {
      text += block_text(table, block);
      block.clear();
    }
    if (block.empty()) {
      block.push_back(column_at(table, 0));
      used = gap + block.front().width;  // an arrow stands before it
    }
    used += gap + next.width;
    block.push_back(std::move(next));
  }
  return block.empty() ? text : text + block_text(table, block);
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
