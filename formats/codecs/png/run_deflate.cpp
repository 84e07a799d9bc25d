#include "formats/codecs/png/run_deflate.h"

#include <algorithm>
#include <span>

#include "formats/base/checksum.h"
#include "formats/base/lanes.hpp"
#include "formats/codecs/huffman.h"

namespace feedrate::formats {
namespace {

constexpr unsigned max_code_bits = 14;        // four codes and seven bits left over fit 64
constexpr unsigned max_length_code_bits = 7;  // of the code that encodes the lengths: RFC 1951
constexpr std::size_t shortest_run = 4;
constexpr std::size_t longest_run = 258;
constexpr std::size_t end_of_block = 256;
constexpr std::size_t min_literals = 257;   // whose lengths a header must have
constexpr std::size_t stored_overhead = 5;  // bytes, with the bits lost to alignment
constexpr std::size_t stream_overhead = 6;  // zlib's two bytes in front and four behind
// The only distance is 1. It gets two codes of one bit, since a tree of one leaf confuses old
// decoders.
constexpr std::array<std::uint8_t, 2> distance_lengths = {1, 1};

// How deflate encodes the length of a run: a symbol and extra bits after it.
struct RunCode {
  std::uint16_t symbol;
  std::uint8_t bits;
  std::uint8_t extra;
};

constexpr std::array<RunCode, longest_run + 1> make_run_codes() {
  std::array<RunCode, longest_run + 1> codes{};
  std::size_t run = 3;
  for (std::uint16_t symbol = 257; symbol < 285; ++symbol) {
    const auto bits = static_cast<std::uint8_t>(symbol < 265 ? 0 : (symbol - 261) / 4);
    for (std::size_t i = 0; i < std::size_t{1} << bits && run < longest_run; ++i, ++run) {
      codes[run] = {symbol, bits, static_cast<std::uint8_t>(i)};
    }
  }
  codes[longest_run] = {285, 0, 0};
  return codes;
}
constexpr auto run_codes = make_run_codes();

// The first place in [at, end) where `shortest_run` bytes equal the byte before them.
const std::byte* find_run(const std::byte* at, const std::byte* end) {
  constexpr std::ptrdiff_t step = lanes, shortest = shortest_run;
  for (; end - at >= step; at += step + 1 - shortest) {
    LaneBits runs = equal_lanes(load_lanes(at), load_lanes(at - 1));
    runs &= runs >> lane_bits;
    runs &= runs >> 2 * lane_bits;  // each flag: four neighbours
    if (runs != 0) return at + first_lane(runs);
  }
  for (; end - at >= shortest; ++at) {
    if (std::all_of(at, at + shortest, [&](std::byte byte) { return byte == at[-1]; })) return at;
  }
  return end;
}

// Calls found(literals, their count, length of the run that repeats the last byte) for each
// stretch.
template <class Found>
void for_each_stretch(const std::byte* begin, const std::byte* end, bool is_first,
                      const Found& found) {
  const std::byte* literals = begin;
  const std::byte* at = begin + (is_first ? 1 : 0);  // a run needs a byte before it
  while (literals != end) {
    at = find_run(at, end);
    const std::byte* stop = at + std::min<std::ptrdiff_t>(longest_run, end - at);
    const std::byte* run_end =
        at == end ? end : std::find_if(at, stop, [&](std::byte byte) { return byte != at[-1]; });
    found(literals, static_cast<std::size_t>(at - literals),
          static_cast<std::size_t>(run_end - at));
    literals = at = run_end;
  }
}

}  // namespace

struct RunDeflater::BitWriter {
  std::byte* at;
  std::uint64_t held = 0;
  unsigned count = 0;  // of bits in `held`; below 8 after flush()

  void put(std::uint64_t bits, unsigned size) {
    held |= bits << count;
    count += size;
  }
  // Writes eight bytes, of which count / 8 are final.
  void flush() {
    std::memcpy(at, &held, sizeof held);
    at += count / 8;
    held >>= count & ~7U;
    count &= 7;
  }
  void align() {
    count = (count + 7) & ~7U;
    flush();
  }
  void copy(std::span<const std::byte> bytes) {  // only at a byte boundary
    at = std::copy(bytes.begin(), bytes.end(), at);
  }
};

// The code lengths of a block, as deflate stores them: lengths and repetitions, themselves coded.
struct RunDeflater::Header {
  struct Item {
    std::uint8_t symbol;
    std::uint8_t extra;
  };
  static constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  static constexpr unsigned extra_bits(unsigned symbol) {
    return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
  }

  std::array<Item, literal_symbols + distance_lengths.size()> items;
  std::size_t item_count = 0;
  std::size_t literals = literal_symbols;  // without the unused ones at the end
  std::size_t ordered = order.size();      // of `order`, without the unused ones at the end
  std::array<std::uint32_t, 19> counts{};
  std::array<std::uint8_t, 19> lengths{};

  explicit Header(std::span<const std::uint8_t> code_lengths) {
    while (literals > min_literals && code_lengths[literals - 1] == 0) --literals;
    add_runs(code_lengths.first(literals));
    add_runs(distance_lengths);
    make_code_lengths(counts, max_length_code_bits, lengths);
    while (ordered > 4 && lengths[order[ordered - 1]] == 0) --ordered;
  }

  void add(std::size_t symbol, std::size_t extra) {
    items[item_count++] = {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(extra)};
    ++counts[symbol];
  }

  void add_runs(std::span<const std::uint8_t> all) {
    for (std::size_t i = 0; i < all.size();) {
      std::size_t same = 1;
      while (i + same < all.size() && all[i + same] == all[i]) ++same;
      i += same;
      const std::uint8_t length = all[i - 1];
      if (length != 0) {
        add(length, 0);
        --same;
      }
      // 16 repeats the last length 3 to 6 times; 17 is 3 to 10 zeros; 18 is 11 to 138 zeros.
      while (same >= 3) {
        const bool many = length == 0 && same >= 11;
        const std::size_t max_run = length != 0 ? 6 : many ? 138 : 10, min_run = many ? 11 : 3;
        const std::size_t now = std::min(same, max_run);
        add(length != 0 ? 16 : many ? 18 : 17, now - min_run);
        same -= now;
      }
      for (; same > 0; --same) add(length, 0);
    }
  }

  std::uint64_t bits() const {
    std::uint64_t sum = 5 + 5 + 4 + 3 * std::uint64_t{ordered};
    for (unsigned symbol = 0; symbol < counts.size(); ++symbol) {
      sum += std::uint64_t{counts[symbol]} * (lengths[symbol] + extra_bits(symbol));
    }
    return sum;
  }

  void write(BitWriter& bits) const {
    bits.put(literals - min_literals, 5);
    bits.put(distance_lengths.size() - 1, 5);
    bits.put(ordered - 4, 4);
    bits.flush();
    for (std::size_t i = 0; i < ordered; ++i) {
      bits.put(lengths[order[i]], 3);
      bits.flush();
    }
    std::array<std::uint16_t, 19> codes{};
    make_codes(lengths, codes);
    for (const Item& item : std::span(items).first(item_count)) {
      bits.put(codes[item.symbol], lengths[item.symbol]);
      bits.put(item.extra, extra_bits(item.symbol));
      bits.flush();
    }
  }
};

std::size_t RunDeflater::bound(std::size_t bytes) {
  const std::size_t blocks = bytes / block + 1;
  return bytes + blocks * stored_overhead + stream_overhead + sizeof(BitWriter::held);
}

void RunDeflater::count_literals(const std::byte* from, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  std::size_t i = 0;
  for (; i + lanes_.size() <= count; i += lanes_.size()) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) ++lanes_[lane][bytes[i + lane]];
  }
  for (; i < count; ++i) ++lanes_[0][bytes[i]];
}

void RunDeflater::split(const std::byte* begin, const std::byte* end, bool is_first) {
  stretch_count_ = 0;
  counts_.fill(0);
  for (auto& lane : lanes_) lane.fill(0);
  for_each_stretch(begin, end, is_first,
                   [&](const std::byte* literals, std::size_t count, std::size_t run) {
                     count_literals(literals, count);
                     if (run != 0) ++counts_[run_codes[run].symbol];
                     stretches_[stretch_count_++] = {static_cast<std::uint16_t>(count),
                                                     static_cast<std::uint16_t>(run)};
                   });
}

void RunDeflater::make_code() {
  for (std::size_t i = 0; i < 256; ++i) {
    counts_[i] = lanes_[0][i] + lanes_[1][i] + lanes_[2][i] + lanes_[3][i];
  }
  counts_[end_of_block] = 1;
  make_code_lengths(counts_, max_code_bits, lengths_);
  make_codes(lengths_, codes_);
}

void RunDeflater::write_block(BitWriter& bits, const std::byte* data) const {
  // A code and its length side by side, so that each literal takes one load.
  std::array<std::uint32_t, 256> table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = std::uint32_t{codes_[i]} << 8 | lengths_[i];
  }
  BitWriter local = bits;
  const auto put = [&](std::byte literal) {
    const std::uint32_t entry = table[std::to_integer<std::size_t>(literal)];
    local.put(entry >> 8, entry & 0xff);
  };
  for (const Stretch& stretch : std::span(stretches_).first(stretch_count_)) {
    std::size_t i = 0;
    for (; i + 4 <= stretch.literals; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) put(data[i + k]);
      local.flush();
    }
    for (; i < stretch.literals; ++i) put(data[i]);
    local.flush();
    if (stretch.run != 0) {
      const RunCode& run = run_codes[stretch.run];
      local.put(codes_[run.symbol], lengths_[run.symbol]);
      local.put(run.extra, run.bits);
      local.put(0, distance_lengths[0]);
      local.flush();
    }
    data += stretch.literals + stretch.run;
  }
  local.put(codes_[end_of_block], lengths_[end_of_block]);
  local.flush();
  bits = local;
}

std::size_t RunDeflater::count_symbols(Bytes data) {
  std::size_t symbols = 0;
  for_each_stretch(data.data(), data.data() + data.size(), true,
                   [&](const std::byte*, std::size_t count, std::size_t) { symbols += count + 1; });
  return symbols;
}

bool RunDeflater::has_repeats(Bytes data) {
  constexpr std::size_t kept = 16;                  // one position in this many is remembered
  constexpr std::size_t looked = 256, pace = 4096;  // the last bytes of each `pace`
  constexpr std::size_t window = 32768;             // as far as deflate can point back
  constexpr std::size_t same = 24;                  // bytes; smooth skies repeat shorter stretches
  std::size_t tries = 0, hits = 0;
  seen_.fill(0);
  for (std::size_t i = 0; i + same <= data.size(); ++i) {
    const bool keep = i % kept == 0;
    const bool look = i % pace >= pace - looked || data.size() - i <= looked;
    if (!keep && !look) {
      i += kept - i % kept - 1;
      continue;
    }
    const auto here = load_le<std::uint64_t>(data.data() + i);
    if (here >> 8 == (here & ~std::uint64_t{0} >> 8)) continue;  // a run
    std::uint32_t& last = seen_[here * 0x9e3779b97f4a7c15 >> 52];
    if (look) {
      ++tries;
      hits += i != last && i - last <= window &&
              std::memcmp(data.data() + last, data.data() + i, same) == 0;
    }
    if (keep) last = static_cast<std::uint32_t>(i);
  }
  return hits * kept * 8 > tries;
}

std::size_t RunDeflater::deflate(Bytes data, std::byte* to) {
  BitWriter bits{to};
  bits.put(0x0178, 16);  // zlib's head: deflate, a window of 32 KiB, fastest level
  std::size_t begin = 0;
  do {
    const Bytes now = data.subspan(begin, std::min(block, data.size() - begin));
    split(now.data(), now.data() + now.size(), begin == 0);
    begin += now.size();
    make_code();
    const Header header(lengths_);
    std::uint64_t size = header.bits();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      size += std::uint64_t{counts_[i]} * lengths_[i];
    }
    for (const Stretch& stretch : std::span(stretches_).first(stretch_count_)) {
      if (stretch.run != 0) size += run_codes[stretch.run].bits + distance_lengths[0];
    }
    const bool stored = size > 8 * std::uint64_t{now.size()};
    bits.put(begin == data.size() ? 1 : 0, 1);
    bits.put(stored ? 0 : 2, 2);
    if (stored) {
      bits.align();
      bits.put(now.size() | (~now.size() & 0xffff) << 16, 32);
      bits.flush();
      bits.copy(now);
    } else {
      header.write(bits);
      write_block(bits, now.data());
    }
  } while (begin < data.size());
  bits.align();
  const std::uint32_t sum = swap_bytes(adler32_of(data));
  bits.copy(std::as_bytes(std::span(&sum, 1)));
  return static_cast<std::size_t>(bits.at - to);
}

}  // namespace feedrate::formats
