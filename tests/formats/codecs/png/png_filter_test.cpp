#include "formats/codecs/png/png_filter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace feedrate::formats {
namespace {

int number(std::byte byte) { return std::to_integer<int>(byte); }

// As the PNG specification words it, 9.4.
int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

int predicted(std::size_t filter, int left, int above, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    case 4:
      return paeth(left, above, corner);
    default:
      return 0;
  }
}

struct Rows {
  Buffer memory;
  std::byte* above;
  std::byte* row;

  explicit Rows(std::size_t bytes)
      : memory(2 * (bytes + 2 * row_margin)),
        above(memory.data() + row_margin),
        row(above + bytes + 2 * row_margin) {}
};

Buffer filtered_by(std::size_t filter, const Rows& rows, std::size_t bytes, std::size_t pixel) {
  Buffer result{static_cast<std::byte>(filter)};
  for (std::size_t i = 0; i < bytes; ++i) {
    const int left = i < pixel ? 0 : number(rows.row[i - pixel]);
    const int corner = i < pixel ? 0 : number(rows.above[i - pixel]);
    const int value = number(rows.row[i]) - predicted(filter, left, number(rows.above[i]), corner);
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

int magnitude(const Buffer& filtered) {
  int sum = 0;
  for (std::size_t i = 1; i < filtered.size(); ++i) {
    sum += std::abs(static_cast<std::int8_t>(filtered[i]));
  }
  return sum;
}

TEST(UnitPngFilter, the_best_of_five_is_chosen_as_libpng_does_and_undone) {
  std::mt19937 random(5);
  std::array<int, png_filters> chosen{};
  for (int round = 0; round < 3000; ++round) {
    const std::size_t pixel = round % 2 == 0 ? 3 : 1;
    const std::size_t bytes = pixel * (1 + random() % 60);
    const auto step = static_cast<unsigned>(1 + random() % 40);  // from smooth to noise
    Rows rows(bytes);
    int value = static_cast<int>(random() % 256);
    for (std::size_t i = 0; i < bytes; ++i) {
      value += static_cast<int>(random() % step) - static_cast<int>(step / 2);
      rows.above[i] = static_cast<std::byte>(round % 5 == 0 ? 0 : value);
      rows.row[i] = static_cast<std::byte>(value + static_cast<int>(random() % step));
    }
    Buffer expected = filtered_by(0, rows, bytes, pixel);
    for (std::size_t filter = 0; filter < png_filters; ++filter) {
      const Buffer candidate = filtered_by(filter, rows, bytes, pixel);
      if (magnitude(candidate) < magnitude(expected)) expected = candidate;
      Buffer padded = candidate, back(bytes);
      padded.resize(padded.size() + row_margin);
      Buffer above(rows.above, rows.above + bytes + 1);
      EXPECT_TRUE(unfilter_row(padded.data(), above.data(), bytes, pixel, back.data()));
      EXPECT_EQ(back, Buffer(rows.row, rows.row + bytes)) << "filter " << filter;
    }
    FilteredRow filters;
    filters.set_size(bytes, pixel);
    const Bytes best = filters.filter(rows.row, rows.above);
    EXPECT_EQ(Buffer(best.begin(), best.end()), expected);
    ++chosen[std::to_integer<std::size_t>(best.front())];
  }
  for (const int times : chosen) EXPECT_GT(times, 20) << "every filter has its use";
}

TEST(UnitPngFilter, paeth_is_right_for_every_kind_of_neighbours) {
  // The row's first byte sets one pixel; Paeth then predicts the second from it.
  std::array<std::byte, 2 + 1 + row_margin> row{std::byte{4}};
  std::array<std::byte, 3> above{};
  std::array<std::byte, 2> to{};
  for (int corner = 0; corner < 256; corner += 3) {
    for (int up = 0; up < 256; up += 3) {
      above = {static_cast<std::byte>(corner), static_cast<std::byte>(up), std::byte{0}};
      for (int left = 0; left < 256; ++left) {
        row[1] = static_cast<std::byte>(left - corner);
        unfilter_row(row.data(), above.data(), 2, 1, to.data());
        ASSERT_EQ(number(to[0]), left);
        ASSERT_EQ(number(to[1]), paeth(left, up, corner)) << left << " " << up << " " << corner;
      }
    }
  }
}

TEST(UnitPngFilter, other_numbers_are_no_filters) {
  const Buffer zeros(64);
  Buffer row(64), to(8);
  for (const unsigned filter : {5U, 128U, 255U}) {
    row[0] = static_cast<std::byte>(filter);
    EXPECT_FALSE(unfilter_row(row.data(), zeros.data(), 6, 3, to.data()));
  }
}

}  // namespace
}  // namespace feedrate::formats
