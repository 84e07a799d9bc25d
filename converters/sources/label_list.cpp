#include "converters/sources/label_list.h"

#include <algorithm>
#include <cctype>

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

struct Fields {
  std::string_view name, label;
};

Fields fields_of(std::string_view line) {
  for (const char separator : {'\t', ','}) {
    const std::size_t first = line.find(separator);
    if (first == std::string_view::npos) continue;
    const std::string_view rest = line.substr(first + 1);
    return {trimmed(line.substr(0, first)), trimmed(rest.substr(0, rest.find(separator)))};
  }
  // A name may hold blanks, a label not.
  line = trimmed(line);
  const std::size_t last = line.find_last_of(blanks);
  if (last == std::string_view::npos) return {line, {}};
  return {trimmed(line.substr(0, last)), line.substr(last + 1)};
}

std::string_view without_root(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  return name;
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
    Fields fields = fields_of(line);
    if (rows_.empty() && is_header(fields.name)) {
      boxes = fields.label == "PredictionString";
      continue;
    }
    if (boxes) fields.label = fields.label.substr(0, fields.label.find(' '));
    fields.name = without_root(fields.name);
    if (fields.name.empty() || fields.label.empty()) {
      fail(file, "line ", line_number, ": expected the name of an image and its label, found '",
           trimmed(line).substr(0, 80), "'");
    }
    numbered_ = numbered_ && parse_number<std::int32_t>(fields.label).value_or(-1) >= 0;
    rows_.push_back({std::string(fields.name), std::string(fields.label)});
  }
  if (rows_.empty()) fail(file, "names no images");
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
