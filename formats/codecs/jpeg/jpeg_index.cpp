#include "formats/codecs/jpeg/jpeg_index.h"

#include <limits>

#include "formats/codecs/jpeg/jpeg_index_layout.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::formats {

std::optional<JpegIndexHeader> read_jpeg_index_header(Bytes entry) {
  using namespace jpeg_index;
  if (entry.size() < points_at + padding) return std::nullopt;
  const std::byte* at = entry.data();
  if (load_le<std::uint64_t>(at) != fingerprint(entry.subspan(hash_at))) return std::nullopt;
  JpegIndexHeader header;
  header.hash = load_le<std::uint64_t>(at + hash_at);
  header.size = load_le<std::uint32_t>(at + size_at);
  header.scan = load_le<std::uint32_t>(at + scan_at);
  header.mcus = load_le<std::uint32_t>(at + mcus_at);
  header.step = load_le<std::uint16_t>(at + step_at);
  header.components = load_le<std::uint8_t>(at + components_at);
  for (std::size_t i = 0; i < header.orders.size(); ++i) {
    header.orders[i] = load_le<std::uint8_t>(at + orders_at + i);
    if (header.orders[i] > max_order) return std::nullopt;
  }
  if (header.step == 0 || header.components == 0 || header.components > max_huffman_components) {
    return std::nullopt;
  }
  return header;
}

bool was_made_of(const JpegIndexHeader& header, Bytes encoded) {
  return encoded.size() == header.size && fingerprint(encoded) == header.hash;
}

JpegIndex::JpegIndex(Bytes entry, const JpegIndexHeader& header)
    : header_(header), points_(entry.subspan(jpeg_index::points_at)) {}

bool JpegIndex::go_to(std::size_t mcu) {
  while (next_.mcu <= mcu) {
    point_ = next_;
    if (!read_next()) return false;
  }
  return true;
}

bool JpegIndex::find(ScanRun& run) {
  if (!go_to(run.first)) return false;
  run.from = point_;
  if (!go_to(run.first + run.mcus - 1)) return false;
  run.end = next_.mcu < header_.mcus ? next_.bit : std::numeric_limits<std::uint64_t>::max();
  return true;
}

bool JpegIndex::read_next() {
  next_.mcu += header_.step;
  if (next_.mcu >= header_.mcus) {
    next_.mcu = std::numeric_limits<std::size_t>::max();
    return true;
  }
  std::uint64_t value = 0;
  if (!take(header_.orders[0], value)) return false;
  next_.bit += value;
  for (std::size_t c = 0; c < header_.components; ++c) {
    if (!take(header_.orders[1 + c], value)) return false;
    const auto half = static_cast<std::int64_t>(value >> 1);
    const std::int64_t mean = next_.means[c] + ((value & 1) != 0 ? -half - 1 : half);
    if (mean != static_cast<std::int16_t>(mean)) return false;
    next_.means[c] = static_cast<int>(mean);
  }
  return true;
}

// n zeros, n + 1 bits that begin with 1, and `order` more bits.
bool JpegIndex::take(unsigned order, std::uint64_t& value) {
  const std::uint64_t byte = bit_ / 8;
  if (byte + sizeof(std::uint64_t) > points_.size()) return false;
  const std::uint64_t bits = __builtin_bswap64(load_le<std::uint64_t>(points_.data() + byte))
                             << bit_ % 8;
  const auto zeros = static_cast<unsigned>(std::countl_zero(bits));
  if (zeros > jpeg_index::max_zeros) return false;
  const unsigned size = 2 * zeros + 1 + order;
  value = (bits >> (64 - size)) - (std::uint64_t{1} << order);
  bit_ += size;
  return true;
}

}  // namespace feedrate::formats
