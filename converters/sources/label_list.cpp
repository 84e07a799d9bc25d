#include "converters/sources/label_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "converters/sources/label_table.h"
#include "formats/base/error.h"
#include "formats/base/label_problem.h"
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

/// The number from 0 on that it is, 1.0 included.
std::optional<std::int32_t> class_number(std::string_view text) {
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (!reads_as_number(text) || text.starts_with('.')) return std::nullopt;
  double value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  const std::optional<std::int32_t> whole = whole_number(value);
  return whole && *whole >= 0 ? whole : std::nullopt;
}

/// Numbers that count no classes must not become the names of some, which would number all anew.
void expect_classes(const std::filesystem::path& file, const std::vector<LabelList::Row>& rows) {
  if (!std::ranges::all_of(rows, reads_as_number, &LabelList::Row::label)) return;
  const auto wrong = std::ranges::find_if(
      rows, [](const LabelList::Row& row) { return !class_number(row.label); });
  fail(file, "gives ", wrong->name, " the label ", wrong->label,
       "; expected whole numbers from 0 to 2147483647, or names");
}

/// The bytes of the directories, with their slash, in which all names lie.
std::size_t common_directory(const std::vector<std::string>& names) {
  const auto [least, most] = std::ranges::minmax_element(names);
  const auto differ = std::ranges::mismatch(*least, *most).in1;
  const std::size_t slash = least->rfind('/', static_cast<std::size_t>(differ - least->begin()));
  return slash == std::string::npos ? 0 : std::min(slash, most->size()) + 1;
}

std::string without_root(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

LabelList::LabelList(const std::filesystem::path& from) {
  constexpr Wish columns[] = {Wish::image, Wish::label};
  const auto [file, wishes] = split_wishes(from, columns);
  file_ = file;
  std::vector<LabelledName> table = read_label_table(file, wishes);
  if (table.empty()) fail(file, "names no images");
  rows_.reserve(table.size());
  for (auto& [name, label] : table) {
    numbered_ = numbered_ && class_number(label);
    rows_.push_back({without_root(name), std::move(label)});
  }
  if (!numbered_) expect_classes(file, rows_);
  for (Row& row : rows_) {
    if (numbered_) row.label = std::to_string(*class_number(row.label));
  }
  by_name_.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!by_name_.try_emplace(rows_[i].name, i).second) {
      fail(file, "names the image ", rows_[i].name, " twice");
    }
  }
}

void LabelList::fit(std::span<const std::string> paths) {
  const auto fits = [&] {
    return std::ranges::any_of(paths,
                               [&](const std::string& path) { return find(path) != rows_.size(); });
  };
  if (fits()) return;
  std::vector<std::string> names;
  for (const Row& row : rows_) {
    std::string& name = names.emplace_back(row.name);
    if (name.find('/') == std::string::npos) std::ranges::replace(name, '\\', '/');
  }
  const auto before = std::exchange(by_name_, {});
  fitted_ = std::move(names);
  const std::size_t front = common_directory(fitted_);
  for (std::size_t cut = 0;;) {
    by_name_.clear();
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      by_name_.try_emplace(std::string_view(fitted_[i]).substr(cut), i);
    }
    if (fits()) return;
    if (cut == front) break;
    cut = fitted_.front().find('/', cut) + 1;
  }
  by_name_ = before;
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
