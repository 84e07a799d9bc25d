#include "formats/containers/recordio/record_file.h"

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/recordio/record.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Compares with a list's label columns, which may have only six decimals of a number.
bool same_labels(std::string_view columns, const ImageRecord& record) {
  const std::size_t count = std::max<std::size_t>(record.label_count(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string column(take_column(columns));
    char* end = nullptr;
    const double listed = std::strtod(column.c_str(), &end);
    if (column.empty() || *end != '\0') return false;
    const double stored =
        record.label_count() == 0 ? record.label : static_cast<double>(record.label_at(i));
    if (!(std::abs(listed - stored) <= 1e-6 * std::max(1.0, std::abs(stored)))) return false;
  }
  return columns.empty();
}

}  // namespace

RecordFile::RecordFile(const fs::path& path) : file_(path), list_(beside_records(path, ".lst")) {
  const fs::path index = beside_records(path, ".idx");
  std::error_code ignored;
  if (fs::exists(index, ignored)) index_ = index;
  try {
    starts_ = index_.empty() ? scan_record_starts(file_.map())
                             : read_record_starts(index_, file_.map().size());
  } catch (const Error& error) {
    if (!index_.empty()) throw;
    fail(path, error.what());
  }
  keep_images();
}

ImageRecord RecordFile::read_record_at(std::uint64_t start, Buffer& storage) const {
  return parse_image_record(read_record(file_.map(), start, storage).payload);
}

Bytes RecordFile::stored(std::uint64_t record) const {
  const Bytes all = file_.map();
  const std::uint64_t end = record + 1 == starts_.size() ? all.size() : starts_[record + 1];
  return all.subspan(starts_[record], end - starts_[record]);
}

// InsightFace's record of id 0 has no image: its two labels say that ids from 1 to below the first
// label are images, and that the other ids are ranges of images, one record for each person.
void RecordFile::keep_images() {
  Buffer storage;
  const auto is_range = [&](std::uint64_t record) {
    try {
      const Held held = hold(stored(record));
      const ImageRecord found = read_record_at(starts_[record], storage);
      return found.image.empty() && found.label_count() == 2;
    } catch (const Error&) {
      return false;  // reported when the sample is read
    }
  };
  if (starts_.empty() || (!is_range(0) && !is_range(starts_.size() - 1))) return;
  // Only here are the ids needed.
  const std::vector<RecordPlace> places =
      index_.empty() ? scan_records(file_.map()) : read_record_index(index_, file_.map().size());
  const auto header = std::ranges::find(places, 0U, &RecordPlace::id);
  if (header == places.end()) return;
  const auto header_record = static_cast<std::uint64_t>(header - places.begin());
  if (!is_range(header_record)) return;
  const Held held = hold(stored(header_record));
  kept_ = Offsets(places.size());
  const float end = read_record_at(header->start, storage).label_at(0);
  for (std::uint64_t i = 0; i < places.size(); ++i) {
    const std::uint64_t id = places[i].id;
    if (id != 0 && static_cast<double>(id) < static_cast<double>(end)) kept_.push_back(i);
  }
}

ImageRecord RecordFile::read(std::uint64_t image, Scratch& scratch) const {
  const std::uint64_t at = record(image);
  scratch.held = hold(stored(at));
  const Record found = read_record(file_.map(), starts_[at], scratch.bytes);
  const bool is_last = at + 1 == starts_.size();
  const std::uint64_t next = is_last ? file_.map().size() : starts_[at + 1];
  if (found.end != next) {
    throw Error(join("the record ends at byte ", found.end, ", but ",
                     is_last ? "the file" : "the next one", " is at ", next,
                     "; does the .idx belong to this file? 'feedrate index' rebuilds it"));
  }
  return parse_image_record(found.payload);
}

void RecordFile::look_ahead(std::uint64_t image) const { file_.look_ahead(stored(record(image))); }

void RecordFile::prefetch_place(std::uint64_t image) const {
  if (!kept_.empty()) return;  // the place of the place: not worth a third step
  starts_.prefetch(image);
  list_.prefetch_place(image);
}

void RecordFile::prefetch_image(std::uint64_t image) const {
  if (!kept_.empty()) return;
  prefetch_start(file_.map(), starts_[image]);
  list_.prefetch_line(image);
}

void RecordFile::audit(const std::function<void(Finding)>& found,
                       const std::function<void(std::uint64_t)>& seen) const {
  std::vector<std::uint64_t> ids;
  try {
    const std::vector<RecordPlace> scanned = scan_records(file_.map());
    for (const RecordPlace& place : scanned) ids.push_back(place.id);
    if (!index_.empty()) audit_record_index(index_, scanned, file_.map().size(), found);
  } catch (const Error& error) {
    found({shown_path(path()), error.what()});
  }
  Buffer storage;
  for (std::uint64_t i = 0; i < images(); ++i) {
    try {
      const Held held = hold(stored(record(i)));
      const ImageRecord image = read_record_at(start(i), storage);
      ids.push_back(image.id);
      seen(image.id);
      const auto labels = list_.labels(image.id);
      if (!labels || same_labels(*labels, image)) continue;
      found({join(path(), ": record ", record(i)),
             join("its labels are not those of the list for the id ", image.id)});
    } catch (const Error&) {
      // Reading the sample reports it.
    }
  }
  std::ranges::sort(ids);
  list_.audit([&](std::uint64_t id) { return std::ranges::binary_search(ids, id); }, found);
}

}  // namespace feedrate::formats
