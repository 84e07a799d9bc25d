#include "converters/sources/label_list.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "converters/sources/label_table.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

/// "7", "-7", "+7", "1.0", "1e3"
bool reads_as_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) {
    return false;  // "inf" and "nan" are words
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

/// Numbers that count no classes must not become the names of some, which would number all anew.
void expect_classes(const std::filesystem::path& file, const std::vector<LabelList::Row>& rows) {
  if (!std::ranges::all_of(rows, reads_as_number, &LabelList::Row::label)) return;
  const auto wrong = std::ranges::find_if(rows, [](const LabelList::Row& row) {
    return parse_number<std::int32_t>(row.label).value_or(-1) < 0;
  });
  fail(file, "gives ", wrong->name, " the label ", wrong->label,
       "; expected whole numbers from 0 to 2147483647, or names");
}

std::string without_root(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

LabelList::LabelList(const std::filesystem::path& file) : file_(file) {
  std::vector<LabelledName> table = read_label_table(file);
  if (table.empty()) fail(file, "names no images");
  rows_.reserve(table.size());
  for (auto& [name, label] : table) {
    numbered_ = numbered_ && parse_number<std::int32_t>(label).value_or(-1) >= 0;
    rows_.push_back({without_root(name), std::move(label)});
  }
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
