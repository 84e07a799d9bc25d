#include "formats/containers/record.h"

#include <array>
#include <cmath>

#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::uint32_t magic = 0xCED7230A;
constexpr unsigned size_bits = 29;
constexpr std::uint32_t size_mask = (1U << size_bits) - 1;
constexpr std::size_t image_head = 24;            // IRHeader
constexpr std::int32_t exact_in_float = 1 << 24;  // beyond it a float skips integers
constexpr float int32_bound = 2147483648.0F;      // 2^31, exact in a float

enum Part : std::uint32_t { whole = 0, first = 1, middle = 2, last = 3 };

std::uint64_t padded(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

struct Frame {
  Part part = whole;
  Bytes payload;
  std::uint64_t end = 0;
};

Frame read_frame(Bytes file, std::uint64_t at) {
  if (at > file.size() || file.size() - at < record_head) {
    throw Error(join("byte ", at, ": a record should start here, but the file ends at ",
                     file.size(), "; is it truncated?"));
  }
  const std::byte* head = file.data() + at;
  if (const auto found = load_le<std::uint32_t>(head); found != magic) {
    throw Error(join("byte ", at, ": no record starts here: expected the magic number ", magic,
                     ", found ", found));
  }
  const auto sized = load_le<std::uint32_t>(head + 4);
  const std::uint64_t size = sized & size_mask;
  const std::uint64_t left = file.size() - at - record_head;
  if (padded(size) > left) {
    throw Error(join("byte ", at, ": the record states ", size, " bytes where ", left,
                     " are left; is the file truncated?"));
  }
  Frame frame;
  frame.part = static_cast<Part>(sized >> size_bits);
  frame.payload = file.subspan(at + record_head, size);
  frame.end = at + record_head + padded(size);
  return frame;
}

// Gives every part of the record at `at` to `take`, the first one first; returns the record's end.
template <class Take>
std::uint64_t walk_record(Bytes file, std::uint64_t at, const Take& take) {
  Frame frame = read_frame(file, at);
  if (frame.part != whole && frame.part != first) {
    throw Error(
        join("byte ", at, ": part ", frame.part, " of a split record where one should start"));
  }
  take(frame);
  while (frame.part == first || frame.part == middle) {
    const std::uint64_t next = frame.end;
    frame = read_frame(file, next);
    if (frame.part != middle && frame.part != last) {
      throw Error(
          join("byte ", next, ": part ", frame.part, " inside the split record of byte ", at));
    }
    take(frame);
  }
  return frame.end;
}

void append_frame(Part part, Bytes payload, Buffer& framed) {
  append_le(framed, magic);
  append_le(framed, static_cast<std::uint32_t>(part) << size_bits |
                        static_cast<std::uint32_t>(payload.size()));
  append(framed, payload);
  framed.resize(framed.size() + padded(payload.size()) - payload.size());
}

std::int32_t class_of(float label) {
  if (!(label >= -int32_bound && label < int32_bound) || std::trunc(label) != label) {
    throw Error(join("the label ", label, " is no class number"));
  }
  return static_cast<std::int32_t>(label);
}

}  // namespace

Record read_record(Bytes file, std::uint64_t at, Buffer& storage) {
  Record record;
  record.end = walk_record(file, at, [&](const Frame& frame) {
    if (frame.part == whole) {
      record.payload = frame.payload;
      return;
    }
    if (frame.part == first) {
      storage.clear();
    } else {
      append_le(storage, magic);
    }
    append(storage, frame.payload);
    record.payload = storage;
  });
  return record;
}

std::uint64_t skip_record(Bytes file, std::uint64_t at) {
  return walk_record(file, at, [](const Frame&) {});
}

void append_record(Bytes payload, Buffer& framed) {
  if (payload.size() > size_mask) {
    throw Error(join("a record of ", payload.size(), " bytes; RecordIO holds less than 2^29"));
  }
  std::size_t begin = 0;
  for (std::size_t at = 0; at + sizeof magic <= payload.size(); at += sizeof magic) {
    if (load_le<std::uint32_t>(payload.data() + at) != magic) continue;
    append_frame(begin == 0 ? first : middle, payload.subspan(begin, at - begin), framed);
    begin = at + sizeof magic;
  }
  append_frame(begin == 0 ? whole : last, payload.subspan(begin), framed);
}

ImageRecord parse_image_record(Bytes payload) {
  if (payload.size() < image_head) {
    throw Error(join("no image record: ", payload.size(), " bytes, its header takes ", image_head));
  }
  const auto flag = load_le<std::uint32_t>(payload.data());
  if (flag > (payload.size() - image_head) / sizeof(float)) {
    throw Error(
        join("no image record: it would state ", flag, " labels in ", payload.size(), " bytes"));
  }
  ImageRecord record;
  record.label = class_of(load_le<float>(payload.data() + (flag == 0 ? 4 : image_head)));
  record.id = load_le<std::uint64_t>(payload.data() + 8);
  record.image = payload.subspan(image_head + flag * sizeof(float));
  return record;
}

void write_image_record(std::int32_t label, std::uint64_t id, Bytes image, Buffer& payload) {
  if (label > exact_in_float || label < -exact_in_float) {
    throw Error(join("RecordIO keeps labels as 32-bit floats, which cannot hold ", label));
  }
  payload.clear();
  append_le(payload, std::uint32_t{0});
  append_le(payload, static_cast<float>(label));
  append_le(payload, id);
  append_le(payload, std::uint64_t{0});
  append(payload, image);
}

bool is_recordio(Bytes start) {
  return start.size() >= record_head && load_le<std::uint32_t>(start.data()) == magic &&
         load_le<std::uint32_t>(start.data() + 4) >> size_bits <= first;
}

}  // namespace feedrate
