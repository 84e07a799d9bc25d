#include <algorithm>
#include <limits>

#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/jpeg/jpeg_feeders.hpp"
#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/codecs/jpeg/jpeg_index_layout.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t fields = 1 + max_huffman_components;

// Offsets in raw bytes of offsets without stuffing, in ascending order.
class RawOffset {
 public:
  explicit RawOffset(const std::byte* from) : from_(from), raw_(from) {}
  const std::byte* from() const { return from_; }

  std::uint64_t of(std::uint64_t plain) {
    while (plain_ < plain) {
      const void* found = std::memchr(raw_, 0xff, plain - plain_);
      if (found == nullptr) {
        raw_ += plain - plain_;
        plain_ = plain;
      } else {  // FF 00 is one byte
        const auto* ff = static_cast<const std::byte*>(found);
        plain_ += static_cast<std::uint64_t>(ff - raw_) + 1;
        raw_ = ff + 2;
      }
    }
    return static_cast<std::uint64_t>(raw_ - from_);
  }

 private:
  const std::byte* from_;
  const std::byte* raw_;
  std::uint64_t plain_ = 0;
};

// Where every MCU begins. False where the scan is not sound to its end.
bool read_points(HuffmanScan& scan, Bytes raw, std::size_t mcus, std::vector<ScanPoint>& points) {
  points.resize(mcus);
  RawOffset offset(raw.data());
  for (std::size_t mcu = 0; mcu < mcus; ++mcu) {
    if (!scan.enter()) return false;
    const HuffmanScan::Place place = scan.place();
    if (place.from != offset.from()) offset = RawOffset(place.from);
    const auto before = static_cast<std::uint64_t>(place.from - raw.data());
    points[mcu] = {mcu, 8 * (before + offset.of(place.bits / 8)) + place.bits % 8, scan.means()};
    if (!scan.read(nullptr)) return false;
  }
  return !scan.rest().empty();
}

using Values = std::array<std::uint64_t, fields>;

// What is stored of a point.
Values difference(const ScanPoint& point, const ScanPoint& last, std::size_t components) {
  Values values{point.bit - last.bit};
  for (std::size_t c = 0; c < components; ++c) {
    const std::int64_t by = point.means[c] - last.means[c];
    values[1 + c] = static_cast<std::uint64_t>(by < 0 ? -2 * by - 1 : 2 * by);
  }
  return values;
}

unsigned zeros_of(std::uint64_t value, unsigned order) {
  return static_cast<unsigned>(std::bit_width((value >> order) + 1)) - 1;
}

class BitWriter {
 public:
  explicit BitWriter(Buffer& to) : to_(to) {}
  // At most 57 bits.
  void put(std::uint64_t bits, unsigned count) {
    word_ |= bits << (64 - count) >> used_;
    for (used_ += count; used_ >= 8; used_ -= 8, word_ <<= 8) {
      to_.push_back(static_cast<std::byte>(word_ >> 56));
    }
  }
  void finish() {
    if (used_ > 0) to_.push_back(static_cast<std::byte>(word_ >> 56));
  }

 private:
  Buffer& to_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;
};

struct Coding {
  std::size_t step = 0;
  std::array<unsigned, fields> orders{};
  std::size_t bits = 0;
};

// The orders that need the fewest bits for every step-th point.
Coding best_coding(const std::vector<ScanPoint>& points, std::size_t step, std::size_t components,
                   std::vector<Values>& values) {
  Coding coding{.step = step};
  values.clear();
  for (std::size_t mcu = step; mcu < points.size(); mcu += step) {
    values.push_back(difference(points[mcu], points[mcu - step], components));
  }
  for (std::size_t field = 0; field <= components; ++field) {
    std::uint64_t sum = 0;
    for (const Values& value : values) sum += value[field];
    // About the mean's bits, which is where the best order is.
    const auto middle =
        static_cast<unsigned>(std::bit_width(sum / std::max<std::size_t>(values.size(), 1)));
    std::size_t best = std::numeric_limits<std::size_t>::max();
    const unsigned last = std::min(middle + 1, jpeg_index::max_order);
    for (unsigned order = last - std::min(last, 4U); order <= last; ++order) {
      std::size_t bits = 0;
      for (const Values& value : values) bits += 2 * zeros_of(value[field], order) + 1 + order;
      if (bits >= best) continue;
      best = bits;
      coding.orders[field] = order;
    }
    coding.bits += best;
  }
  return coding;
}

bool can_store(const std::vector<Values>& values, const Coding& coding) {
  return std::ranges::all_of(values, [&](const Values& value) {
    for (std::size_t field = 0; field < fields; ++field) {
      if (zeros_of(value[field], coding.orders[field]) > jpeg_index::max_zeros) return false;
    }
    return true;
  });
}

}  // namespace

void make_jpeg_index(Bytes encoded, Buffer& entry, double share) {
  using namespace jpeg_index;
  entry.clear();
  const double room = share * static_cast<double>(encoded.size()) - points_at - padding;
  if (room <= 0 || encoded.size() > std::numeric_limits<std::uint32_t>::max()) return;
  HuffmanFeeder feeder(*runnable_huffman_decodings().front());
  std::size_t left = 0;
  if (!start_whole_scan(jpeg_decompressor_for(encoded), feeder, left)) return;
  thread_local std::vector<ScanPoint> points;
  thread_local std::vector<Values> values;
  const Bytes raw = encoded.last(left);
  const std::size_t mcus = feeder.layout.across * feeder.layout.down;
  if (!read_points(*feeder.scan, raw, mcus, points)) return;
  const std::size_t components = feeder.scan->components();
  Coding coding;
  for (std::size_t step = 1;; ++step) {
    coding = best_coding(points, step, components, values);
    if (values.empty() || step > std::numeric_limits<std::uint16_t>::max()) return;
    const auto bytes = static_cast<double>((coding.bits + 7) / 8);
    if (bytes <= room) break;
    // A point takes about as many bits at any step, and no fewer at a larger one: so the next step
    // worth trying follows from how far this one is above the room.
    step = std::max(step, static_cast<std::size_t>(static_cast<double>(step) * bytes / room) - 1);
  }
  if (!can_store(values, coding)) return;
  append_le(entry, std::uint64_t{0});
  append_le(entry, fingerprint(encoded));
  append_le(entry, static_cast<std::uint32_t>(encoded.size()));
  append_le(entry, static_cast<std::uint32_t>(encoded.size() - left));
  append_le(entry, static_cast<std::uint32_t>(mcus));
  append_le(entry, static_cast<std::uint16_t>(coding.step));
  append_le(entry, static_cast<std::uint8_t>(components));
  for (const unsigned order : coding.orders) append_le(entry, static_cast<std::uint8_t>(order));
  BitWriter writer(entry);
  for (const Values& value : values) {
    for (std::size_t field = 0; field <= components; ++field) {
      const unsigned order = coding.orders[field];
      writer.put(value[field] + (std::uint64_t{1} << order),
                 2 * zeros_of(value[field], order) + 1 + order);
    }
  }
  writer.finish();
  entry.resize(entry.size() + padding);
  const std::uint64_t checksum = fingerprint(Bytes(entry).subspan(hash_at));
  std::memcpy(entry.data(), &checksum, sizeof checksum);
}

}  // namespace feedrate::formats
