#include "formats/containers/tfrecord/tf_record.h"

#include <algorithm>
#include <cstring>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::uint32_t mask_addend = 0xA282EAD8;
constexpr unsigned mask_rotation = 15;  // bits to the right

struct Head {
  std::uint64_t length = 0;
  std::uint32_t stated = 0;  // masked CRC of the length
  std::uint32_t found = 0;
};

Head load_head(const std::byte* at) {
  return {load_le<std::uint64_t>(at), load_le<std::uint32_t>(at + 8),
          mask_crc32c(crc32c(Bytes(at, 8)))};
}

}  // namespace

std::uint32_t mask_crc32c(std::uint32_t crc) {
  return (crc >> mask_rotation | crc << (32 - mask_rotation)) + mask_addend;
}

std::uint64_t tf_record_end(Bytes head_bytes, std::uint64_t at, std::uint64_t size) {
  if (head_bytes.size() < tf_record_head) {
    throw Error(join("byte ", at, ": a record should start here, but the file ends at ", size,
                     "; is it truncated?"));
  }
  const Head head = load_head(head_bytes.data());
  if (head.stated != head.found) {
    throw Error(join("byte ", at, ": corrupted record: the CRC of its length is ", head.found,
                     ", stated is ", head.stated,
                     at == 0 ? "; is it a TFRecord file, and not compressed as a whole?" : ""));
  }
  const std::uint64_t left = size - at - tf_record_head;
  if (left < tf_record_tail || head.length > left - tf_record_tail) {
    throw Error(join("byte ", at, ": truncated record: it states ", head.length,
                     " bytes of data and the file ends ", left, " bytes behind its head"));
  }
  return at + head.length + tf_record_frame;
}

Bytes read_tf_record(Bytes file, std::uint64_t at) {
  const Bytes rest = file.subspan(std::min<std::uint64_t>(at, file.size()));
  const std::uint64_t end = tf_record_end(rest, at, file.size());
  const Bytes data = rest.subspan(tf_record_head, end - at - tf_record_frame);
  const auto stated = load_le<std::uint32_t>(data.data() + data.size());
  if (const std::uint32_t found = mask_crc32c(crc32c(data)); found != stated) {
    throw Error(join("byte ", at + tf_record_head, ": corrupted record: the CRC of its ",
                     data.size(), " bytes of data is ", found, ", stated is ", stated));
  }
  return data;
}

TfFrame frame_tf_record(std::span<const Bytes> parts) {
  std::uint64_t length = 0;
  std::uint32_t crc = 0;
  for (const Bytes part : parts) {
    length += part.size();
    crc = crc32c(part, crc);
  }
  TfFrame frame;
  std::memcpy(frame.head.data(), &length, sizeof length);
  const std::uint32_t head = mask_crc32c(crc32c(Bytes(frame.head).first(sizeof length)));
  std::memcpy(frame.head.data() + sizeof length, &head, sizeof head);
  const std::uint32_t tail = mask_crc32c(crc);
  std::memcpy(frame.tail.data(), &tail, sizeof tail);
  return frame;
}

bool is_tf_record(Bytes start) {
  if (start.size() < tf_record_head) return false;
  const Head head = load_head(start.data());
  return head.stated == head.found;
}

}  // namespace feedrate::formats
