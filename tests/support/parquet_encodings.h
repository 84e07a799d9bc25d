#pragma once
// Parquet's newer encodings of values, as pyarrow writes them.

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

namespace detail {

inline void append_varint(Buffer& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

inline void append_zigzag(Buffer& to, std::int64_t value) {
  append_varint(to,
                static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

/// DELTA_BINARY_PACKED, in blocks of 128 values in 4 parts.
inline Buffer deltas_of(const std::vector<std::int64_t>& values) {
  constexpr std::size_t in_block = 128, parts = 4, in_part = in_block / parts;
  Buffer out;
  append_varint(out, in_block);
  append_varint(out, parts);
  append_varint(out, values.size());
  append_zigzag(out, values.empty() ? 0 : values.front());
  for (std::size_t at = 1; at < values.size(); at += in_block) {
    const std::size_t count = std::min(in_block, values.size() - at);
    std::vector<std::int64_t> steps;
    for (std::size_t i = at; i < at + count; ++i) steps.push_back(values[i] - values[i - 1]);
    const std::int64_t least = *std::ranges::min_element(steps);
    append_zigzag(out, least);
    Buffer packed;
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<std::uint64_t> own;
      for (std::size_t i = part * in_part; i < std::min((part + 1) * in_part, count); ++i) {
        own.push_back(static_cast<std::uint64_t>(steps[i] - least));
      }
      const auto width =
          own.empty() ? 0U : static_cast<unsigned>(std::bit_width(*std::ranges::max_element(own)));
      out.push_back(static_cast<std::byte>(width));
      Buffer bits(own.empty() ? 0 : in_part * width / 8);
      for (std::size_t i = 0; i < own.size(); ++i) {
        for (unsigned b = 0; b < width; ++b) {
          const std::size_t place = i * width + b;
          if ((own[i] >> b & 1U) != 0) bits[place / 8] |= static_cast<std::byte>(1U << place % 8);
        }
      }
      append(packed, bits);
    }
    append(out, packed);
  }
  return out;
}

/// Texts and numbers, which PLAIN has as `values`, in the encoding of that number.
inline Buffer encoded_as(std::int32_t encoding, const std::vector<Buffer>& values) {
  Buffer out;
  if (encoding == 5) {
    std::vector<std::int64_t> numbers;
    for (const Buffer& value : values) {
      numbers.push_back(value.size() == 4 ? load_le<std::int32_t>(value.data())
                                          : load_le<std::int64_t>(value.data()));
    }
    return deltas_of(numbers);
  }
  if (encoding == 9) {
    for (std::size_t byte = 0; !values.empty() && byte < values.front().size(); ++byte) {
      for (const Buffer& value : values) out.push_back(value[byte]);
    }
    return out;
  }
  std::vector<std::int64_t> prefixes, sizes;
  Buffer tails;
  Bytes before;
  for (const Buffer& value : values) {
    const Bytes text = Bytes(value).subspan(4);
    std::size_t same = 0;
    if (encoding == 7) {
      same = static_cast<std::size_t>(std::ranges::mismatch(before, text).in2 - text.begin());
    }
    prefixes.push_back(static_cast<std::int64_t>(same));
    sizes.push_back(static_cast<std::int64_t>(text.size() - same));
    append(tails, text.subspan(same));
    before = text;
  }
  if (encoding == 7) append(out, deltas_of(prefixes));
  append(out, deltas_of(sizes));
  append(out, tails);
  return out;
}

}  // namespace detail
}  // namespace feedrate::testing
