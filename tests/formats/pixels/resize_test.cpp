#include "formats/pixels/resize.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "formats/digests/digest.h"
#include "formats/pixels/resize_passes.h"
#include "tests/support/expect_error.h"
#include "tests/support/mixed_image.h"
#include "tests/support/places.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;

// The same as in tests/formats/parity/make_resize.py, with a black corner and a white one.
Image made(Shape shape) {
  Image image = testing::mixed_image(shape);
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      const bool black = 4 * x < shape.width && 4 * y < shape.height;
      const bool white = 4 * x >= 3 * shape.width && 4 * y >= 3 * shape.height;
      for (std::uint32_t c = 0; c < shape.channels; ++c, ++at) {
        if (black) image.pixels[at] = std::byte{0};
        if (white) image.pixels[at] = std::byte{255};
      }
    }
  }
  return image;
}

Buffer resized(const Image& image, Shape target, ResizeScratch& scratch,
               Interpolation interpolation = Interpolation::bilinear) {
  Buffer pixels(target.bytes());
  resize(image, target, pixels, scratch, interpolation);
  return pixels;
}

struct Case {
  Image image;
  Shape target;
  Interpolation interpolation;
  std::string sha256;

  std::string digest(ResizeScratch& scratch) const {
    return hex(formats::sha256(resized(image, target, scratch, interpolation)));
  }
};

std::vector<Case> pillow_cases() {
  std::ifstream file(testing::source_directory() / "tests/formats/parity/resize.json");
  const auto json = nlohmann::json::parse(file);
  std::vector<Case> cases;
  const auto shape = [](const nlohmann::json& sides) {
    return Shape{sides[0], sides[1], sides[2]};
  };
  for (const auto& stored : json.at("cases")) {
    const bool is_cubic = stored.at("interpolation") == "bicubic";
    cases.push_back({made(shape(stored.at("from"))), shape(stored.at("to")),
                     is_cubic ? Interpolation::bicubic : Interpolation::bilinear,
                     stored.at("sha256")});
  }
  return cases;
}

std::string described(const Case& one) {
  const Shape& from = one.image.shape;
  return join(from.height, "x", from.width, "x", from.channels, " to ", one.target.height, "x",
              one.target.width, one.interpolation == Interpolation::bicubic ? ", bicubic" : "");
}

TEST(UnitResize, every_pixel_is_the_one_that_pillow_makes) {
  const std::vector<Case> cases = pillow_cases();
  EXPECT_GE(cases.size(), 120U);
  ResizeScratch scratch;  // shared by all: leftovers must not matter
  for (const Case& one : cases) {
    EXPECT_EQ(one.digest(scratch), one.sha256) << described(one);
  }
}

TEST(UnitResize, threads_with_scratch_of_their_own_do_not_meet) {
  const std::vector<Case> cases = pillow_cases();
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      ResizeScratch scratch;
      for (int i = 0; i < 30; ++i) {
        const Case& one = cases[random() % cases.size()];
        EXPECT_EQ(one.digest(scratch), one.sha256) << described(one);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(UnitResize, scratch_that_has_seen_an_image_as_large_allocates_nothing) {
  ResizeScratch scratch;
  resized(made({200, 300, 3}), {100, 120, 3}, scratch);
  const auto memory = [&] {
    return std::array<const void*, 6>{scratch.rows.data(),           scratch.lines.data(),
                                      scratch.across.weights.data(), scratch.across.table.data(),
                                      scratch.down.first.data(),     scratch.down.low.data()};
  };
  const auto before = memory();
  for (const Shape from : {Shape{190, 290, 3}, {180, 300, 1}, {100, 120, 3}, {50, 250, 3}}) {
    resized(made(from), {95, 120, from.channels}, scratch);
  }
  resized(made({200, 300, 3}), {100, 120, 3}, scratch);
  EXPECT_EQ(memory(), before);
}

TEST(UnitResize, the_same_size_is_a_copy) {
  const Image image = made({13, 29, 3});
  ResizeScratch scratch;
  EXPECT_EQ(resized(image, image.shape, scratch), image.pixels);
}

TEST(UnitResize, one_colour_stays_that_colour) {
  std::mt19937 random(7);
  ResizeScratch scratch;
  for (int round = 0; round < 200; ++round) {
    const auto side = [&] { return 1 + static_cast<std::uint32_t>(random() % 90); };
    const Shape from{side(), side(), 3}, to{side(), side(), 3};
    const auto colour = static_cast<std::byte>(random());
    const Image image{from, Buffer(from.bytes(), colour)};
    for (const Interpolation by : {Interpolation::bilinear, Interpolation::bicubic})
      EXPECT_EQ(resized(image, to, scratch, by), Buffer(to.bytes(), colour));
  }
}

Buffer random_bytes(std::size_t size, std::mt19937& random) {
  Buffer bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Rows of exactly the needed length, so that sanitizers see any access beyond them.
std::vector<Buffer> passed(const ResizePasses& passes, const ResizeSpan& span, std::size_t channels,
                           std::uint32_t seed) {
  std::mt19937 random(seed);
  ResizeAxis axis;
  axis.set(span);
  passes.prepare_across(axis, channels);
  const std::array<Buffer, 2> from{random_bytes(axis.from * channels, random),
                                   random_bytes(axis.from * channels, random)};
  std::vector<Buffer> made(3, Buffer(axis.to * channels));
  passes.across(axis, channels, {from[0].data(), from[1].data()}, {made[0].data(), made[1].data()});

  ResizeAxis down;
  ResizeSpan upright = span;
  upright.mirrored = false;
  down.set(upright);
  passes.prepare_down(down);
  made[2].resize(1 + random() % 150);
  std::vector<Buffer> rows;
  std::vector<const std::byte*> lines;
  for (std::size_t i = 0; i < down.stride; ++i) {
    rows.push_back(random_bytes(made[2].size(), random));
    lines.push_back(rows.back().data());
  }
  passes.down(down, random() % down.to, lines.data(), made[2].size(), made[2].data());
  return made;
}

ResizeSpan random_span(std::mt19937& random, std::uint32_t max_from, std::uint32_t max_to) {
  ResizeSpan span;
  span.from = 1 + static_cast<std::uint32_t>(random() % max_from);
  span.to = 1 + static_cast<std::uint32_t>(random() % max_to);
  span.begin = static_cast<std::uint32_t>(random() % span.to);
  span.count = 1 + static_cast<std::uint32_t>(random() % (span.to - span.begin));
  if (random() % 2 == 0) span = {span.from, span.to, 0, span.to};
  span.mirrored = random() % 2 == 0;
  if (random() % 2 == 0) span.interpolation = Interpolation::bicubic;
  return span;
}

TEST(UnitResize, vector_and_plain_code_give_the_same_bytes) {
  std::mt19937 random(11);
  for (std::uint32_t round = 0; round < 500; ++round) {
    const ResizeSpan span = random_span(random, 600, round % 3 == 0 ? 4 : 300);
    if (span.copies()) continue;  // no pass over it
    const std::size_t channels = round % 2 == 0 ? 3 : 1;
    const std::vector<Buffer> plain = passed(plain_resize_passes, span, channels, round);
    for (const ResizePasses* passes : runnable_resize_passes()) {
      EXPECT_EQ(passed(*passes, span, channels, round), plain)
          << passes->name << ": " << span.from << " to " << span.to << " x " << channels;
    }
  }
}

TEST(UnitResize, a_part_is_what_the_whole_has_there) {
  std::mt19937 random(12);
  ResizeScratch scratch;
  for (int round = 0; round < 200; ++round) {
    const ResizeSpan across = random_span(random, 120, 120);
    ResizeSpan down = random_span(random, 120, round % 4 == 0 ? 3 : 120);
    down.mirrored = false;
    down.interpolation = across.interpolation;
    if (round % 5 == 0) down = {down.from, down.from, 0, down.from};
    const std::uint32_t channels = round % 2 == 0 ? 3 : 1;
    const Image image = made({down.from, across.from, channels});
    const Buffer whole =
        resized(image, {down.to, across.to, channels}, scratch, across.interpolation);
    Buffer part(std::size_t{channels} * down.count * across.count);
    const PixelRange rows = source_of(down), columns = source_of(across);
    resize_part(rows_of_part(image.pixels.data(), image.shape, {rows.begin, columns.begin, 1, 1}),
                channels, down, across, part, scratch);
    std::size_t at = 0;
    for (std::uint32_t y = 0; y < down.count; ++y) {
      for (std::uint32_t x = 0; x < across.count; ++x) {
        const std::uint32_t column = across.mirrored ? across.count - 1 - x : x;
        for (std::uint32_t c = 0; c < channels; ++c) {
          const std::size_t index =
              ((down.begin + y) * std::size_t{across.to} + across.begin + column) * channels + c;
          ASSERT_EQ(part[at++], whole[index]) << round;
        }
      }
    }
  }
}

TEST(UnitResize, names_are_read_and_written) {
  const Resize shorter = parse_resize("short:256");
  EXPECT_EQ(shorter, (Resize{Resize::Fit::short_side, 256, 256}));
  EXPECT_EQ(parse_resize("long:1"), (Resize{Resize::Fit::long_side, 1, 1}));
  EXPECT_EQ(parse_resize("224x160"), (Resize{Resize::Fit::exact, 224, 160}));
  for (const char* text : {"short:256", "long:65535", "224x160", "1x1"}) {
    EXPECT_EQ(parse_resize(text).name(), text);
  }
}

TEST(UnitResize, the_ratio_is_kept_and_fractions_are_cut_off) {
  const auto target = [](const char* text, Shape shape) {
    return parse_resize(text).target(shape);
  };
  EXPECT_EQ(target("short:256", {375, 500, 3}), (Shape{256, 341, 3}));  // 341.33
  EXPECT_EQ(target("short:256", {500, 333, 1}), (Shape{384, 256, 1}));  // 384.38
  EXPECT_EQ(target("short:256", {400, 599, 3}), (Shape{256, 383, 3}));  // 383.36
  EXPECT_EQ(target("short:256", {32, 32, 3}), (Shape{256, 256, 3})) << "enlarged";
  EXPECT_EQ(target("short:256", {256, 300, 3}), (Shape{256, 300, 3})) << "untouched";
  EXPECT_EQ(target("long:256", {375, 500, 3}), (Shape{192, 256, 3}));
  EXPECT_EQ(target("long:256", {500, 333, 3}), (Shape{256, 170, 3}));  // 170.5
  EXPECT_EQ(target("long:10", {1, 1000, 3}), (Shape{1, 10, 3})) << "never nothing";
  EXPECT_EQ(target("224x160", {5, 1000, 1}), (Shape{160, 224, 1}));
}

TEST(HostileResize, what_cannot_be_asked_for_is_said_with_what_can) {
  for (const char* text : {"",
                           "256",
                           "short",
                           "short:",
                           "short:0",
                           "short:-5",
                           "short:65536",
                           "short:256x",
                           "long:a",
                           "x",
                           "224x",
                           "x224",
                           "224x0",
                           "65536x2",
                           "224x224x3",
                           "224X224",
                           " 224x224",
                           "0x0",
                           "short:99999999999999999999",
                           "area:256"}) {
    expect_error([&] { parse_resize(text); },
                 {join("'", text, "'"), "short:256, long:256 or 224x160", "65535"});
  }
}

TEST(HostileResize, results_too_large_to_hold_are_refused_before_anything_is_made) {
  expect_error(
      [] {
        parse_resize("short:256").target({1, 60000, 3});
      },
      {"1x60000", "short:256", "256x15360000"});
  expect_error([] { parse_resize("65535x65535").target({1, 1, 1}); }, {"65535x65535"});
  expect_error([] { parse_resize("short:65535").target({1, 65535, 1}); }, {"65535x4294836225"});
}

}  // namespace
}  // namespace feedrate::formats
