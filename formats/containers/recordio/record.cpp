#include "formats/containers/recordio/record.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::uint32_t magic = 0xCED7230A;
constexpr unsigned size_bits = 29;
constexpr std::uint32_t size_mask = (1U << size_bits) - 1;
static_assert(max_record_bytes == size_mask);

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

// Passes each part of the record at `at` to `take`, in order; returns the record's end.
template <class Take>
std::uint64_t walk_record(Bytes file, std::uint64_t at, HeldWindow* window, const Take& take) {
  const auto need_head = [&](std::uint64_t start) {
    if (window != nullptr) window->need(start, record_head);
  };
  need_head(at);
  Frame frame = read_frame(file, at);
  if (frame.part != whole && frame.part != first) {
    throw Error(
        join("byte ", at, ": part ", frame.part, " of a split record where one should start"));
  }
  take(frame);
  while (frame.part == first || frame.part == middle) {
    const std::uint64_t next = frame.end;
    need_head(next);
    frame = read_frame(file, next);
    if (frame.part != middle && frame.part != last) {
      throw Error(
          join("byte ", next, ": part ", frame.part, " inside the split record of byte ", at));
    }
    take(frame);
  }
  return frame.end;
}

// Two runs of memory, seen as one.
class Joined {
 public:
  Joined(Bytes head, Bytes body) : head_(head), body_(body) {}

  std::size_t size() const { return head_.size() + body_.size(); }

  std::size_t find_magic(std::size_t from) const {
    if (from < head_.size()) {
      const std::size_t found = find_record_magic(head_, from);
      if (found < head_.size()) return found;
      from = head_.size();
    }
    return head_.size() + find_record_magic(body_, from - head_.size());
  }

  void give(std::size_t begin, std::size_t end, const std::function<void(Bytes)>& sink) const {
    const std::size_t middle = std::clamp(head_.size(), begin, end);
    if (begin < middle) sink(head_.subspan(begin, middle - begin));
    if (middle < end) sink(body_.subspan(middle - head_.size(), end - middle));
  }

 private:
  Bytes head_;
  Bytes body_;
};

}  // namespace

Record read_record(Bytes file, std::uint64_t at, Buffer& storage) {
  Record record;
  record.end = walk_record(file, at, nullptr, [&](const Frame& frame) {
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

std::uint64_t skip_record(Bytes file, std::uint64_t at, HeldWindow* window) {
  return walk_record(file, at, window, [](const Frame&) {});
}

void frame_record(Bytes head, Bytes body, const std::function<void(Bytes)>& sink) {
  assert(head.size() % sizeof magic == 0);
  const Joined payload(head, body);
  assert(payload.size() <= max_record_bytes);
  constexpr std::array<std::byte, sizeof magic> zeros{};
  for (std::size_t begin = 0;;) {
    const std::size_t end = payload.find_magic(begin);
    const bool is_last = end == payload.size();
    const Part part = is_last ? (begin == 0 ? whole : last) : (begin == 0 ? first : middle);
    const std::uint32_t frame[] = {magic, static_cast<std::uint32_t>(part) << size_bits |
                                              static_cast<std::uint32_t>(end - begin)};
    sink(std::as_bytes(std::span(frame)));
    payload.give(begin, end, sink);
    if (is_last) {
      const std::size_t size = end - begin;
      return sink(Bytes(zeros).first(padded(size) - size));
    }
    begin = end + sizeof magic;
  }
}

std::size_t find_record_magic(Bytes payload, std::size_t from) {
  // Blocks without a branch inside, so that the compiler compares many words at a time.
  constexpr std::size_t words = 64;
  std::size_t at = from;
  for (; at + words * sizeof magic <= payload.size(); at += words * sizeof magic) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < words; ++i) {
      found |= load_le<std::uint32_t>(payload.data() + at + i * sizeof magic) == magic;
    }
    if (found != 0) break;
  }
  for (; at + sizeof magic <= payload.size(); at += sizeof magic) {
    if (load_le<std::uint32_t>(payload.data() + at) == magic) return at;
  }
  return payload.size();
}

bool is_recordio(Bytes start) {
  return start.size() >= record_head && load_le<std::uint32_t>(start.data()) == magic &&
         load_le<std::uint32_t>(start.data() + 4) >> size_bits <= first;
}

}  // namespace feedrate::formats
