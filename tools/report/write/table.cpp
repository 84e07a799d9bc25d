#include "tools/report/write/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/bars.h"
#include "tools/cli/text.h"
#include "tools/report/draw/svg.h"
#include "tools/report/write/output.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t gap = 2;  // between columns
constexpr std::size_t max_head_lines = 2;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// A head in lines no wider than its column.
std::vector<std::string> broken(const std::string& name, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : words_of(name)) {
    if (!lines.empty() && columns_of(lines.back()) + 1 + columns_of(word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string aligned(const std::string& text, std::size_t width, Table::Align align) {
  const std::size_t taken = columns_of(text);
  if (taken >= width) return taken > width ? fitted(text, width) : text;
  const std::string blanks(width - taken, ' ');
  return align == Table::Align::left ? text + blanks : blanks + text;
}

std::vector<std::size_t> widths_of(const Table& table, std::size_t columns) {
  std::vector<std::size_t> widths;
  std::size_t all = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = 0;
    for (const std::string& word : words_of(table.columns[i].name)) {
      width = std::max(width, columns_of(word));
    }
    for (const Table::Row& row : table.rows) width = std::max(width, columns_of(row.cells[i]));
    while (broken(table.columns[i].name, width).size() > max_head_lines) ++width;
    widths.push_back(width);
    all += width + gap;
  }
  // What is too wide is taken from the names, which can be cut and still be told apart.
  const std::size_t least = 12;
  if (all > columns && widths.front() > least) {
    widths.front() -= std::min(widths.front() - least, all - columns);
  }
  return widths;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// "5,900" as a program reads it; text stays what it is.
std::string plain_number(const std::string& cell) {
  if (cell == not_measured) return {};
  const bool number = cell.find_first_not_of("0123456789,.") == std::string::npos;
  if (!number) return cell;
  std::string plain;
  std::copy_if(cell.begin(), cell.end(), std::back_inserter(plain),
               [](char c) { return c != ','; });
  return plain;
}

}  // namespace

std::string table_text(const Table& table, std::size_t columns) {
  const std::vector<std::size_t> widths = widths_of(table, columns);
  std::vector<std::vector<std::string>> heads;
  std::size_t head_lines = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    heads.push_back(broken(table.columns[i].name, widths[i]));
    head_lines = std::max(head_lines, heads.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < head_lines; ++line) {
    std::string one;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::size_t above = head_lines - heads[i].size();  // heads stand on their column
      one.append(gap, ' ');
      one += aligned(line < above ? "" : heads[i][line - above], widths[i], table.columns[i].align);
    }
    text += trimmed(one);
  }
  const std::string* last = nullptr;
  for (const Table::Row& row : table.rows) {
    std::string one = row.chosen ? "→ " : "  ";
    const bool repeats = last != nullptr && *last == row.cells.front();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i > 0) one.append(gap, ' ');
      one += aligned(i == 0 && repeats ? "" : harmless(row.cells[i]), widths[i],
                     table.columns[i].align);
    }
    last = &row.cells.front();
    text += trimmed(one);
  }
  return text;
}

std::string table_html(const Table& table) {
  std::string text = "<table><thead><tr>";
  for (const Table::Column& column : table.columns) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.align == Table::Align::left ? " class=\"text\"" : "",
                        escape_markup(column.name));
  }
  text += "</tr></thead><tbody>\n";
  for (const Table::Row& row : table.rows) {
    text += row.chosen ? "<tr class=\"chosen\">" : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& cell = row.cells[i];
      if (i == 0) {
        text += "<th scope=\"row\">";
        if (row.series) text += swatch(*row.series);
        text += escape_markup(cell);
        if (row.chosen) text += "<span class=\"tag\">chosen</span>";
        text += "</th>";
        continue;
      }
      const bool left = table.columns[i].align == Table::Align::left;
      const bool none = cell == not_measured;
      std::string_view classes = none ? "none" : "";
      if (left) classes = none ? "none text" : "text";
      text += classes.empty() ? "<td>" : fmt::format("<td class=\"{}\">", classes);
      text += escape_markup(cell) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>";
}

std::string table_csv(const Table& table) {
  std::string text;
  const auto add = [&](const std::string& cell, bool first) {
    if (!first) text += ',';
    text += csv_field(cell);
  };
  for (const auto& column : table.columns) add(column.name, &column == table.columns.data());
  text += "\r\n";
  for (const Table::Row& row : table.rows) {
    for (const auto& cell : row.cells) add(plain_number(cell), &cell == row.cells.data());
    text += "\r\n";
  }
  return text;
}

std::string rate_cell(std::optional<double> value) {
  return value ? quantity(*value) : not_measured;
}

std::string percent_cell(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f} %", *value, digits) : not_measured;
}

std::string count_cell(std::optional<unsigned> value) {
  return value ? std::to_string(*value) : not_measured;
}

}  // namespace feedrate::tools
