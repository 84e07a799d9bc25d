#pragma once
// Views of memory, unaligned loads and stores of numbers, and sizes rounded up. Nothing here checks
// bounds: each reader checks the counts and offsets that it takes from a file (checked_multiply
// helps).

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace feedrate::formats {

static_assert(std::endian::native == std::endian::little,
              "the formats are written as little-endian processors store numbers");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;
using Buffer = std::vector<std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <std::integral T>
T swap_bytes(T value) {
  T swapped{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    reinterpret_cast<char*>(&swapped)[i] = reinterpret_cast<const char*>(&value)[sizeof(T) - 1 - i];
  }
  return swapped;
}

/// The first `size` bytes of `buffer`, which grows to a power of two when it is smaller: images of
/// many sizes reallocate it only a few times.
inline MutableBytes grown(Buffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(std::bit_ceil(size));
  return {buffer.data(), size};
}

/// A number stored at `at`, little-endian.
template <class T>
requires std::is_trivially_copyable_v<T> T load_le(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// An integer stored at `at`, big-endian.
template <std::integral T>
T load_be(const std::byte* at) {
  return swap_bytes(load_le<T>(at));
}

template <class T>
requires std::is_trivially_copyable_v<T>
void append_le(Buffer& to, T value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof(T));
  std::memcpy(to.data() + at, &value, sizeof(T));
}

inline void append(Buffer& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

/// a * b, or nothing when the product does not fit.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// A cache line, in bytes: memory that two threads write to is divided at its multiples.
inline constexpr std::size_t cache_line = 64;

/// The smallest multiple of `step` that is at least `size`, which may not be negative.
template <std::integral T>
constexpr T round_up(T size, std::type_identity_t<T> step) {
  return (size + step - 1) / step * step;
}

}  // namespace feedrate::formats
