#include "formats/containers/parquet/recode.h"

#include <algorithm>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

enum Recoded : std::int32_t {
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  delta_byte_array = 7,
  byte_stream_split = 9,
};

/// Numbers by their differences: varint values in a block | varint miniblocks in it | varint values | zigzag first value |
/// blocks: zigzag least difference | u8 widths[miniblocks] | what differences exceed it by, in bits, lowest first.
class Deltas {
 public:
  /// Reads from the front of `bytes`, and takes that off. There are not more than `most` values.
  Deltas(Bytes& bytes, std::uint64_t most) : left_(bytes) {
    const std::uint64_t in_block = varint(), miniblocks = varint(), count = varint();
    std::uint64_t value = zigzag();
    constexpr std::uint64_t max_in_block = 1 << 20;  // writers take 128 or 256
    if (miniblocks == 0 || in_block % miniblocks != 0 || in_block / miniblocks % 8 != 0 ||
        in_block > max_in_block || in_block == 0) {
      throw Error(join("states blocks of ", in_block, " values in ", miniblocks, " parts"));
    }
    if (count > most) throw Error(join("states ", count, " values, its head ", most));
    if (count != 0) values.push_back(value);
    while (values.size() < count) {
      const std::uint64_t least = zigzag();
      const Bytes widths = take(miniblocks);
      for (std::size_t i = 0; i < widths.size() && values.size() < count; ++i) {
        const auto width = std::to_integer<unsigned>(widths[i]);
        if (width > 64) throw Error(join("states numbers of ", width, " bits"));
        const std::uint64_t some = in_block / miniblocks;
        const Bytes packed = take(some * width / 8);
        for (std::uint64_t k = 0; k < some && values.size() < count; ++k) {
          value += least + bits(packed, k * width, width);
          values.push_back(value);
        }
      }
    }
    bytes = left_;
  }

  std::vector<std::uint64_t> values;  // modulo 2⁶⁴

 private:
  Bytes take(std::uint64_t count) {
    if (count > left_.size()) throw Error("has fewer numbers than it states");
    const Bytes taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto next = std::to_integer<std::uint64_t>(take(1)[0]);
      value |= (next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) return value;
    }
    throw Error("has a number without end");
  }
  std::uint64_t zigzag() {
    const std::uint64_t value = varint();
    return value >> 1 ^ (0 - (value & 1));
  }
  static std::uint64_t bits(Bytes packed, std::uint64_t at, unsigned width) {
    std::uint64_t value = 0;
    for (unsigned done = 0; done < width;) {
      const std::uint64_t bit = at + done;
      const unsigned some = std::min(8 - static_cast<unsigned>(bit % 8), width - done);
      const auto byte = std::to_integer<std::uint64_t>(packed[bit / 8]) >> bit % 8;
      value |= (byte & ((std::uint64_t{1} << some) - 1)) << done;
      done += some;
    }
    return value;
  }

  Bytes left_;
};

void append_text(Bytes first, Bytes last, Buffer& plain) {
  append_le(plain, static_cast<std::uint32_t>(first.size() + last.size()));
  append(plain, first);
  append(plain, last);
}

Bytes take(Bytes& from, std::uint64_t size) {
  if (size > from.size()) {
    throw Error(join("a value takes ", size, " bytes, ", from.size(), " are left"));
  }
  const Bytes taken = from.first(size);
  from = from.subspan(size);
  return taken;
}

void recode_lengths(Bytes bytes, std::uint64_t most, Buffer& plain) {
  const Deltas sizes(bytes, most);
  for (const std::uint64_t size : sizes.values) append_text({}, take(bytes, size), plain);
}

/// Texts of which each begins like the one before it.
void recode_prefixes(Bytes bytes, std::uint64_t most_values, Buffer& plain) {
  const Deltas prefixes(bytes, most_values), sizes(bytes, most_values);
  if (prefixes.values.size() != sizes.values.size()) {
    throw Error(join("has ", prefixes.values.size(), " beginnings and ", sizes.values.size(),
                     " ends of values"));
  }
  // Values that are alike but for their ends: a forged page must not fill memory.
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  std::uint64_t total = 0;
  for (const std::uint64_t size : prefixes.values) {
    if (size > most || (total += size) > most) throw Error("its values take more than 1 GiB");
  }
  plain.reserve(plain.size() + total + bytes.size() + 4 * sizes.values.size());  // views stay
  Bytes before;
  for (std::size_t i = 0; i < sizes.values.size(); ++i) {
    if (prefixes.values[i] > before.size()) {
      throw Error(
          join("a value begins with ", prefixes.values[i], " bytes of one of ", before.size()));
    }
    append_text(before.first(prefixes.values[i]), take(bytes, sizes.values[i]), plain);
    const std::uint64_t size = prefixes.values[i] + sizes.values[i];
    before = Bytes(plain).last(size);
  }
}

}  // namespace

bool is_recoded(std::int32_t encoding) {
  return encoding == delta_binary_packed || encoding == delta_length_byte_array ||
         encoding == delta_byte_array || encoding == byte_stream_split;
}

void recode_parquet_values(const ParquetPage& page, ParquetType type, Bytes values, Buffer& plain) {
  const std::int32_t encoding = page.encoding;
  const bool is_number = type == ParquetType::int32 || type == ParquetType::int64;
  const std::size_t width = type == ParquetType::int32 ? 4 : 8;
  if (is_number && encoding == delta_binary_packed) {
    for (const std::uint64_t value : Deltas(values, page.values).values) {
      if (width == 4) append_le(plain, static_cast<std::uint32_t>(value));
      if (width == 8) append_le(plain, value);
    }
  } else if (is_number && encoding == byte_stream_split && values.size() % width == 0) {
    const std::size_t count = values.size() / width;
    for (std::size_t i = 0; i < values.size(); ++i) {
      plain.push_back(values[i % width * count + i / width]);
    }
  } else if (type == ParquetType::bytes && encoding == delta_length_byte_array) {
    recode_lengths(values, page.values, plain);
  } else if (type == ParquetType::bytes && encoding == delta_byte_array) {
    recode_prefixes(values, page.values, plain);
  } else {
    throw Error(join("has values in an encoding of another type (number ", encoding, ")"));
  }
}

}  // namespace feedrate::formats
