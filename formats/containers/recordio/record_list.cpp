#include "formats/containers/recordio/record_list.h"

#include <algorithm>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_malformed = 10;  // lines reported by an audit

// Some scripts put blanks around the tabs, which im2rec.py strips.
std::optional<std::uint64_t> take_id(std::string_view& line) {
  return parse_number<std::uint64_t>(trimmed(take_column(line)));
}

}  // namespace

RecordList::RecordList(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  file_ = MappedFile(path);
  std::string_view rest = as_text(file_.bytes());
  const char* const begin = rest.data();
  lines_ = Offsets(rest.size(), count_lines(rest));
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const auto start = static_cast<std::uint64_t>(rest.data() - begin);
    std::string_view line = take_line(rest);
    const auto id = take_id(line);
    if (id && line.find('\t') != std::string_view::npos) {
      lines_.push_back(start);
    } else {
      malformed_.push_back(number);
    }
  }
  lines_.sort([this](std::uint64_t a, std::uint64_t b) {
    return std::pair(id_at(a), a) < std::pair(id_at(b), b);
  });
}

std::uint64_t RecordList::id_at(std::uint64_t start) const {
  std::string_view line = as_text(file_.bytes()).substr(start);
  // It was a number when the list was read.
  return take_id(line).value_or(0);
}

std::optional<std::uint64_t> RecordList::find(std::uint64_t id) const {
  const auto id_of = [this](std::uint64_t line) { return id_at(lines_[line]); };
  const std::uint64_t count = lines_.size();
  if (count == 0 || id < id_of(0)) return std::nullopt;
  // The ids of most lists are consecutive: look there first.
  std::uint64_t at = id - id_of(0);
  if (at >= count || id_of(at) != id) {
    at = 0;
    for (std::uint64_t end = count; at < end;) {
      const std::uint64_t middle = at + (end - at) / 2;
      if (id_of(middle) < id) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
  }
  if (at == count || id_of(at) != id) return std::nullopt;
  const bool alone = (at == 0 || id_of(at - 1) != id) && (at + 1 == count || id_of(at + 1) != id);
  return alone ? std::optional(lines_[at]) : std::nullopt;
}

void RecordList::prefetch_place(std::uint64_t image) const {
  if (image < lines_.size()) lines_.prefetch(image);
}

void RecordList::prefetch_line(std::uint64_t image) const {
  if (image < lines_.size()) __builtin_prefetch(file_.bytes().data() + lines_[image]);
}

RecordList::Columns RecordList::columns(std::uint64_t start) const {
  std::string_view rest = as_text(file_.bytes()).substr(start);
  std::string_view text = take_line(rest);
  take_column(text);
  const std::size_t last_tab = text.rfind('\t');
  return {trimmed(text.substr(0, last_tab)), trimmed(text.substr(last_tab + 1))};
}

std::string_view RecordList::name(std::uint64_t id) const {
  const auto start = find(id);
  return start ? columns(*start).name : std::string_view();
}

std::optional<std::string_view> RecordList::labels(std::uint64_t id) const {
  const auto start = find(id);
  if (!start) return std::nullopt;
  return columns(*start).labels;
}

void RecordList::audit(const std::function<bool(std::uint64_t)>& known,
                       const std::function<void(Finding)>& found) const {
  for (std::size_t i = 0; i < std::min(malformed_.size(), max_malformed); ++i) {
    found({join(file_.path(), ": line ", malformed_[i]),
           join("is not a tab-separated id, labels and name",
                i + 1 == max_malformed && malformed_.size() > max_malformed
                    ? join(", and so are ", malformed_.size() - max_malformed, " more")
                    : "")});
  }
  std::uint64_t unknown = 0, first_unknown = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::uint64_t id = id_at(lines_[i]);
    const bool again = i > 0 && id_at(lines_[i - 1]) == id;
    if (again && (i < 2 || id_at(lines_[i - 2]) != id)) {
      found({shown_path(file_.path()), join("has several lines for the id ", id)});
    }
    if (again || known(id)) continue;
    if (unknown++ == 0) first_unknown = id;
  }
  if (unknown != 0) {
    found({shown_path(file_.path()),
           join("lists ", counted_as(unknown, "image that has", "images that have"),
                " no record, the first with the id ", first_unknown)});
  }
}

}  // namespace feedrate::formats
