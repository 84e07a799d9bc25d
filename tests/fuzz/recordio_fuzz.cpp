// RecordIO: frames, split records, and the header of an image record.

#include <algorithm>
#include <cstring>

#include "formats/containers/recordio/image_record.h"
#include "formats/containers/recordio/record.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

using namespace std::string_view_literals;

Buffer framed(Bytes head, Bytes body) {
  Buffer file;
  frame_record(head, body, [&](Bytes piece) { append(file, piece); });
  return file;
}

Buffer head_of(const Sample& sample, std::uint64_t id) {
  Buffer head;
  write_image_head(sample, id, head);
  return head;
}

void check_frame(Bytes payload) {
  Buffer storage;
  const std::size_t head = std::min<std::size_t>(payload.size() / 4 * 4, 24);
  const Buffer file = framed(payload.first(head), payload.subspan(head));
  const Record again = read_record(file, 0, storage);
  require(again.end == file.size() && same(again.payload, payload),
          "a record reads as it was written");
}

// Reads label and boxes of an image; writing and reading them again gives the same.
void check_image_record(Bytes payload) {
  Scratch scratch;
  Sample sample;
  ImageRecord record;
  if (!accepts([&] {
        record = parse_image_record(payload);
        read_labels(record, sample, scratch);
      })) {
    return;
  }
  require(inside(record.image, payload) && inside(record.labels, payload),
          "image and labels lie inside their record");
  for (const Box& box : sample.boxes) {
    require(box.xmin < box.xmax && box.ymin < box.ymax, "a box has an area");
  }
  Buffer head;
  if (!accepts([&] { head = head_of(sample, record.id); })) return;  // the label is no float
  Scratch scratch_again;
  Sample again;
  append(head, record.image);
  const ImageRecord reread = parse_image_record(head);
  read_labels(reread, again, scratch_again);
  require(reread.id == record.id && same(reread.image, record.image),
          "an image and its id read as they were written");
  require(again.label == sample.label &&
              same(std::as_bytes(again.labels), std::as_bytes(sample.labels)) &&
              std::ranges::equal(again.boxes, sample.boxes),
          "labels and boxes read as they were written");
}

}  // namespace

std::vector<Buffer> seeds() {
  const Buffer record = framed(head_of({.bytes = {}, .label = 3}, 42), as_bytes("\x89PNG"));
  // The magic inside the payload splits the record, twice.
  const auto magic = "\x0a\x23\xd7\xce"sv;
  const Buffer split =
      framed(as_bytes("head"), joined({as_bytes(magic), as_bytes(magic), as_bytes("tail."sv)}));
  const float labels[] = {5, 0.25F};
  const Buffer two = framed(head_of({.bytes = {}, .label = 5, .labels = labels}, 1), {});
  // An object in ImageDetIter's layout: a header of 2 values, objects of 5.
  const float object[] = {2, 5, 7, 0.25F, 0.5F, 0.75F, 1};
  const Buffer boxes =
      framed(head_of({.bytes = {}, .label = 7, .labels = object}, 2), as_bytes("image"));
  // A label that is no class becomes a list of one.
  Buffer fraction = head_of({.bytes = {}, .label = 0}, 3);
  const float half = 0.5F;
  std::memcpy(fraction.data() + 4, &half, sizeof half);
  return {joined({record, record}), split, two, boxes, framed(fraction, as_bytes("image"))};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes file = fenced(data, size);
  Buffer storage;
  for (std::uint64_t at = 0; at < file.size();) {
    Record record;
    std::uint64_t end = 0;
    const bool read = accepts([&] { record = read_record(file, at, storage); });
    const bool skipped = accepts([&] { end = skip_record(file, at); });
    require(read == skipped, "reading and passing over agree whether a record is sound");
    if (!read) break;
    require(end == record.end, "reading and passing over end at the same byte");
    require(end > at && end <= file.size(), "a record takes bytes, and none behind the file");
    check_image_record(record.payload);
    check_frame(record.payload);
    at = end;
  }
  return 0;
}
