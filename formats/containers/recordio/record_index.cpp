#include "formats/containers/recordio/record_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/recordio/image_record.h"
#include "formats/containers/recordio/record.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

bool starts_before(const RecordPlace& a, const RecordPlace& b) { return a.start < b.start; }

// The id in the header of the record at `at`, whose frame has been checked; 0 when the record is
// too short for one.
std::uint64_t id_in_header(Bytes file, std::uint64_t at, Buffer& storage) {
  constexpr std::size_t id_at = 8;
  const Bytes payload = read_record(file, at, storage).payload;
  if (payload.size() < id_at + sizeof(std::uint64_t)) return 0;
  return load_le<std::uint64_t>(payload.data() + id_at);
}

// True when no two places share an id.
bool all_differ(const std::vector<RecordPlace>& places) {
  std::vector<std::uint64_t> ids;
  for (const RecordPlace& place : places) ids.push_back(place.id);
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end();
}

// How many of `some` are not among `others`, both sorted, and the start of the first of them.
struct Difference {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
};
Difference missing_from(const std::vector<RecordPlace>& others,
                        const std::vector<RecordPlace>& some) {
  Difference difference;
  for (const RecordPlace& place : some) {
    if (std::ranges::binary_search(others, place, starts_before)) continue;
    if (difference.count++ == 0) difference.first = place.start;
  }
  return difference;
}

// What `make(number of lines)` makes, after `take(list, place)` of each line.
template <class Make, class Take>
auto read_lines(const fs::path& index, std::uint64_t file_size, Make make, Take take) {
  const MappedFile file(index);
  file.expect_reading_in_order();
  std::string_view text = as_text(file.bytes());
  auto list = make(count_lines(text));
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const auto id = take_number<std::uint64_t>(text, '\t');
    const auto start = parse_number<std::uint64_t>(take_line(text));
    if (!id || !start) fail(index, "line ", line, ": expected an id, a tab and an offset");
    if (*start % 4 != 0 || *start >= file_size) {
      fail(index, "line ", line, ": no record can start at byte ", *start, " of ", file_size);
    }
    take(list, RecordPlace{*start, *id});
  }
  return list;
}

// `start(i)`: of `count` records in order.
template <class Start>
void check_starts(const fs::path& index, std::size_t count, Start start) {
  for (std::size_t i = 1; i < count; ++i) {
    if (start(i) == start(i - 1)) fail(index, "names one offset twice");
  }
  if (count != 0 && start(0) != 0) fail(index, "does not name the first record, at byte 0");
}

// Calls `found(at, end, window)` for every record. The window holds its frames' heads, of late bytes.
template <class Found>
void walk_records(Bytes file, Found found) {
  const SinglePages heads(file);
  HeldWindow window(file);
  std::uint64_t record = 0;
  try {
    for (std::uint64_t at = 0; at < file.size(); ++record) {
      const std::uint64_t end = skip_record(file, at, &window);
      found(at, end, window);
      at = end;
    }
  } catch (const Error& error) {
    throw Error(join("record ", record, ": ", error.what()));
  }
}

}  // namespace

Offsets read_record_starts(const fs::path& index, std::uint64_t file_size) {
  Offsets starts = read_lines(
      index, file_size, [&](std::size_t lines) { return Offsets(file_size, lines); },
      [](Offsets& list, const RecordPlace& place) { list.push_back(place.start); });
  starts.sort(std::less<>());
  check_starts(index, starts.size(), [&](std::size_t i) { return starts[i]; });
  return starts;
}

std::vector<RecordPlace> read_record_index(const fs::path& index, std::uint64_t file_size) {
  using Places = std::vector<RecordPlace>;
  Places places = read_lines(
      index, file_size, [](std::size_t) { return Places(); },
      [](Places& list, const RecordPlace& place) { list.push_back(place); });
  if (!std::ranges::is_sorted(places, starts_before)) std::ranges::sort(places, starts_before);
  check_starts(index, places.size(), [&](std::size_t i) { return places[i].start; });
  return places;
}

Offsets scan_record_starts(Bytes file) {
  Offsets starts(file.size());
  walk_records(file, [&](std::uint64_t at, std::uint64_t, HeldWindow&) { starts.push_back(at); });
  return starts;
}

std::vector<RecordPlace> scan_records(Bytes file) {
  std::vector<RecordPlace> places;
  Buffer storage;
  walk_records(file, [&](std::uint64_t at, std::uint64_t end, HeldWindow& window) {
    window.need(at, end - at);
    places.push_back({at, id_in_header(file, at, storage)});
  });
  return places;
}

void audit_record_index(const fs::path& index, const std::vector<RecordPlace>& scanned,
                        std::uint64_t file_size, const std::function<void(Finding)>& found) {
  const auto find = [&](const auto&... parts) { found({shown_path(index), join(parts...)}); };
  const std::vector<RecordPlace> named = read_record_index(index, file_size);
  if (const Difference lost = missing_from(named, scanned); lost.count != 0) {
    find("does not name ", lost.count, " of ", scanned.size(), " records, the first at byte ",
         lost.first);
  }
  if (const Difference false_ones = missing_from(scanned, named); false_ones.count != 0) {
    find("names ", false_ones.count, " places where no record starts, the first at byte ",
         false_ones.first);
  }
  if (!all_differ(named)) find("gives one id to several records: readers see only one of them");
}

void write_record_index(const fs::path& records) {
  std::vector<RecordPlace> places;
  {
    const MappedFile file(records);
    try {
      places = scan_records(file.bytes());
    } catch (const Error& error) {
      fail(records, error.what());
    }
  }
  if (!all_differ(places)) {
    for (std::size_t i = 0; i < places.size(); ++i) places[i].id = i;
  }
  replace_file(beside_records(records, ".idx"), [&](OutputFile& file) {
    std::string line;
    for (const RecordPlace& place : places) {
      line.clear();
      append_index_line(place, line);
      file.write(line);
    }
  });
}

void append_index_line(const RecordPlace& place, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}\t{}\n", place.id, place.start);
}

fs::path beside_records(fs::path records, const char* extension) {
  return records.replace_extension(extension);
}

}  // namespace feedrate::formats
