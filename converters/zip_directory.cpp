#include "converters/zip_directory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view head_mark = "PK\3\4", record_mark = "PK\1\2", end_mark = "PK\5\6";
constexpr std::string_view end64_mark = "PK\6\6", locator_mark = "PK\6\7";
constexpr std::uint64_t head_size = 30, record_size = 46, end_size = 22;
constexpr std::uint64_t end64_size = 56, locator_size = 20;
constexpr std::size_t longest_comment = std::numeric_limits<std::uint16_t>::max();
// A number that does not fit stands in the ZIP64 record instead.
constexpr auto elsewhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

ZipDirectory::ZipDirectory(Bytes zip, std::string place) : zip_(zip), place_(std::move(place)) {
  const End end = find_end();
  if (end.size > end.at || end.start > end.at - end.size) {
    fail(place_, "byte ", end.at, ": the zip's end states a directory of ", end.size,
         " bytes from byte ", end.start, ", which does not fit before it");
  }
  read_entries(end, end.at - end.size);
}

template <class T>
T ZipDirectory::number(std::uint64_t at) const {
  if (at > zip_.size() || zip_.size() - at < sizeof(T)) {
    fail(place_, "the zip's directory leads to byte ", at, " of ", zip_.size(),
         "; is the download complete?");
  }
  return load_le<T>(zip_.data() + at);
}

bool ZipDirectory::is_marked(std::uint64_t at, std::string_view mark) const {
  return at <= zip_.size() && as_text(zip_.subspan(at)).starts_with(mark);
}

std::string_view ZipDirectory::name(std::uint64_t at, std::uint64_t length) const {
  if (at > zip_.size() || zip_.size() - at < length) {
    fail(place_, "byte ", at, ": expected a name of ", length, " bytes, found the end of the zip");
  }
  return as_text(zip_.subspan(at, length));
}

// The last mark behind which its comment fits: a comment may hold a mark, too, but ends with the zip.
ZipDirectory::End ZipDirectory::find_end() const {
  const std::string_view text = as_text(zip_);
  const std::size_t furthest =
      text.size() - std::min<std::size_t>(text.size(), end_size + longest_comment);
  for (std::size_t at = text.rfind(end_mark); at != std::string_view::npos && at >= furthest;
       at = at == 0 ? std::string_view::npos : text.rfind(end_mark, at - 1)) {
    if (text.size() - at < end_size) continue;
    if (number<std::uint16_t>(at + 20) > text.size() - at - end_size) continue;
    return find_end64({.at = at,
                       .entries = number<std::uint16_t>(at + 10),
                       .size = number<std::uint32_t>(at + 12),
                       .start = number<std::uint32_t>(at + 16)});
  }
  fail(place_, "the zip stops without the end of its directory; is the download complete?");
}

ZipDirectory::End ZipDirectory::find_end64(const End& end) const {
  if (end.at < locator_size || !is_marked(end.at - locator_size, locator_mark)) return end;
  const std::uint64_t locator = end.at - locator_size;
  const auto stated = number<std::uint64_t>(locator + 8);
  // Bytes before the zip shift what it states; the record mostly lies just before its locator.
  const std::uint64_t at = locator >= end64_size && is_marked(locator - end64_size, end64_mark)
                               ? locator - end64_size
                               : stated;
  if (at > locator || !is_marked(at, end64_mark)) {
    fail(place_, "byte ", locator, ": expected the ZIP64 end of the directory at byte ", stated,
         ", found something else");
  }
  return {.at = at,
          .entries = number<std::uint64_t>(at + 32),
          .size = number<std::uint64_t>(at + 40),
          .start = number<std::uint64_t>(at + 48),
          .is64 = true};
}

// Where the head of a record's entry lies, as the record or its ZIP64 field states it.
std::uint64_t ZipDirectory::stated_head(std::uint64_t record) const {
  const auto head = number<std::uint32_t>(record + 42);
  if (head != elsewhere) return head;
  std::uint64_t at = record + record_size + number<std::uint16_t>(record + 28);
  const std::uint64_t end = at + number<std::uint16_t>(record + 30);
  while (at + 4 <= end) {
    const auto kind = number<std::uint16_t>(at);
    const std::uint64_t next = at + 4 + number<std::uint16_t>(at + 2);
    if (kind == 1) {  // the numbers that did not fit, in this order: size, packed size, head
      at += 4;
      for (const std::uint64_t size : {record + 24, record + 20}) {
        if (number<std::uint32_t>(size) == elsewhere) at += 8;
      }
      if (at + 8 <= next) return number<std::uint64_t>(at);
      break;
    }
    at = next;
  }
  return head;
}

void ZipDirectory::read_entries(const End& end, std::uint64_t start) {
  const std::uint64_t before = start - end.start;  // bytes in front of the zip
  std::uint64_t at = start;
  while (at + record_size <= end.at && is_marked(at, record_mark)) {
    const std::uint64_t head = stated_head(at);
    if (head >= start || before > start - head) {
      fail(place_, "byte ", at, ": expected an entry before byte ", start, ", found byte ", head);
    }
    entries_.push_back({.head = before + head, .recorded = at});
    at += record_size + number<std::uint16_t>(at + 28) + number<std::uint16_t>(at + 30) +
          number<std::uint16_t>(at + 32);
  }
  // Some programs write more than 65,535 entries without ZIP64, and state what is left of their number.
  const std::uint64_t counted = end.is64 ? entries_.size() : entries_.size() & 0xffff;
  if (at != end.at || counted != end.entries) {
    fail(place_, "expected ", end.entries, " entries in the zip's directory up to byte ", end.at,
         ", found ", entries_.size(), " up to byte ", at);
  }
  std::ranges::sort(entries_, {}, &Entry::head);
}

void ZipDirectory::check_next() {
  if (checked_ == entries_.size()) {
    fail(place_, "expected the ", entries_.size(),
         " entries of the zip's directory, found more; it may hold some that were deleted");
  }
  const auto [head, recorded] = entries_[checked_++];
  const auto expected = name(recorded + record_size, number<std::uint16_t>(recorded + 28));
  if (!is_marked(head, head_mark)) {
    fail(join(place_, ":", expected), "byte ", head,
         ": expected the head of this entry, found something else");
  }
  const auto found = name(head + head_size, number<std::uint16_t>(head + 26));
  if (found != expected) {
    fail(join(place_, ":", expected), "byte ", head + head_size,
         ": expected this name, which the zip's directory has, found '", found, "'");
  }
}

void ZipDirectory::check_end() const {
  if (checked_ == entries_.size()) return;
  const std::uint64_t recorded = entries_[checked_].recorded;
  fail(join(place_, ":", name(recorded + record_size, number<std::uint16_t>(recorded + 28))),
       "the zip's directory has this entry at byte ", entries_[checked_].head,
       ", but its data end before it");
}

}  // namespace feedrate::converters
