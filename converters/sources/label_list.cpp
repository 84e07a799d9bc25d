#include "converters/sources/label_list.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view blanks = " \t\r";

// First fields of headers, in lower case.
constexpr std::string_view header_words[] = {"imageid", "image_id", "image",     "id",
                                             "name",    "filename", "file",      "file_name",
                                             "path",    "img",      "image_name"};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

bool is_header(std::string_view first_field) {
  std::string lower(first_field);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(header_words, lower) != std::end(header_words);
}

/// Takes the first field off a line of CSV, in which a quoted one may hold commas, and "" is a quote.
std::string take_csv_field(std::string_view& line) {
  std::string field;
  const std::size_t quote = line.find_first_not_of(blanks);
  std::size_t behind = 0;
  if (quote != std::string_view::npos && line[quote] == '"') {
    std::size_t at = quote + 1;
    for (; at < line.size() && (line[at] != '"' || line.substr(at + 1).starts_with('"')); ++at) {
      field += line[at];
      if (line[at] == '"') ++at;
    }
    if (at == line.size()) throw Error("a quote is not closed");
    behind = at + 1;
  }
  const std::size_t comma = std::min(line.find(',', behind), line.size());
  const std::string_view rest = trimmed(line.substr(behind, comma - behind));
  if (behind != 0 && !rest.empty()) throw Error(join("'", rest, "' stands behind a quote"));
  line.remove_prefix(std::min(comma + 1, line.size()));
  return behind == 0 ? std::string(rest) : field;
}

struct Fields {
  std::string name, label;
};

Fields fields_of(std::string_view line) {
  if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos) {
    const std::string_view rest = line.substr(tab + 1);
    return {std::string(trimmed(line.substr(0, tab))),
            std::string(trimmed(rest.substr(0, rest.find('\t'))))};
  }
  if (line.find(',') != std::string_view::npos) {
    std::string name = take_csv_field(line);
    return {std::move(name), take_csv_field(line)};
  }
  // A name may hold blanks, a label not.
  line = trimmed(line);
  const std::size_t last = line.find_last_of(blanks);
  if (last == std::string_view::npos) return {std::string(line), {}};
  return {std::string(trimmed(line.substr(0, last))), std::string(line.substr(last + 1))};
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Numbers that count no classes must not become the names of some, which would number all anew.
void expect_classes(const std::filesystem::path& file, const std::vector<LabelList::Row>& rows) {
  if (!std::ranges::all_of(rows, is_whole_number, &LabelList::Row::label)) return;
  const auto wrong = std::ranges::find_if(rows, [](const LabelList::Row& row) {
    return parse_number<std::int32_t>(row.label).value_or(-1) < 0;
  });
  fail(file, "gives ", wrong->name, " the label ", wrong->label,
       "; expected numbers from 0 to 2147483647, or names");
}

std::string without_root(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

LabelList::LabelList(const std::filesystem::path& file) : file_(file) {
  Buffer content;
  read_file(file, content);
  std::string_view rest = as_text(content);
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  bool boxes = false;  // behind the class, as Kaggle's PredictionString has them
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (trimmed(line).empty()) continue;
    Fields fields;
    try {
      fields = fields_of(line);
    } catch (const Error& error) {
      fail(file, "line ", line_number, ": ", error.what());
    }
    if (rows_.empty() && is_header(fields.name)) {
      boxes = fields.label == "PredictionString";
      continue;
    }
    if (boxes) fields.label.resize(std::min(fields.label.size(), fields.label.find(' ')));
    fields.name = without_root(fields.name);
    if (fields.name.empty() || fields.label.empty()) {
      fail(file, "line ", line_number, ": expected the name of an image and its label, found '",
           trimmed(line).substr(0, 80), "'");
    }
    numbered_ = numbered_ && parse_number<std::int32_t>(fields.label).value_or(-1) >= 0;
    rows_.push_back({std::move(fields.name), std::move(fields.label)});
  }
  if (rows_.empty()) fail(file, "names no images");
  if (!numbered_) expect_classes(file, rows_);
  by_name_.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!by_name_.try_emplace(rows_[i].name, i).second) {
      fail(file, "names the image ", rows_[i].name, " twice");
    }
  }
}

std::size_t LabelList::find(std::string_view path) const {
  for (std::string_view tail = path;;) {
    std::size_t dot = tail.rfind('.');
    if (dot == std::string_view::npos || dot < tail.rfind('/') + 1) dot = tail.size();
    for (const std::string_view name : {tail, tail.substr(0, dot)}) {
      const auto found = by_name_.find(name);
      if (found != by_name_.end()) return found->second;
    }
    const std::size_t slash = tail.find('/');
    if (slash == std::string_view::npos) return rows_.size();
    tail.remove_prefix(slash + 1);
  }
}

}  // namespace feedrate::converters
