#include "converters/sources/idx.h"

#include <gtest/gtest.h>

#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;

IdxHeader header_of(const std::filesystem::path& file) {
  Archive archive(file);
  archive.next();
  return read_idx_header(archive);
}

TEST(UnitIdx, a_header_tells_count_and_size) {
  const TempDirectory directory;
  const IdxHeader images = header_of(write(directory / "i", idx_images(5, 3, 7)));
  EXPECT_EQ(images.kind, IdxKind::images);
  EXPECT_EQ(images.count, 5U);
  EXPECT_EQ(images.shape, (Shape{3, 7, 1}));
  EXPECT_EQ(images.bytes, 16U + 5 * 3 * 7);
  const IdxHeader labels = header_of(write(directory / "l", idx_labels(5)));
  EXPECT_EQ(labels.kind, IdxKind::labels);
  EXPECT_EQ(labels.bytes, 13U);
}

TEST(HostileIdx, another_magic_is_named_with_what_it_is) {
  const TempDirectory directory;
  const auto file = directory / "images";
  const auto expect = [&](const std::string& start, std::initializer_list<std::string_view> parts) {
    write(file, start + std::string(100, 'x'));
    expect_error([&] { header_of(file); }, parts);
  };
  expect("abcd", {"images", "byte 0", "2049", "2051", "found 1633837924 (0x61626364)"});
  expect(std::string("\0\0\x0c\x02", 4), {"IDX of type 0x0c with 2 dimensions"});
  expect("\x89PNG", {"found 2303741511"});
}

TEST(HostileIdx, data_compressed_more_often_than_sensible_is_called_compressed) {
  const TempDirectory directory;
  const auto file =
      write(directory / "images.gz", compressed(compressed(compressed(idx_images(2, 4, 4)))));
  expect_error([&] { header_of(file); }, {"images.gz", "still gzip-compressed"});
}

TEST(HostileIdx, a_header_cut_anywhere_is_an_error) {
  const TempDirectory directory;
  for (std::size_t size = 1; size < 16; ++size) {
    const auto file = write(directory / "i", idx_images(5, 3, 7).substr(0, size));
    expect_error([&] { header_of(file); }, {"the IDX header is cut off", std::to_string(size)});
  }
}

TEST(HostileIdx, dimensions_that_make_no_sense_are_refused) {
  const TempDirectory directory;
  const auto file = directory / "i";
  for (const auto& [height, width] : {std::pair{0U, 28U}, {28U, 0U}, {70000U, 28U}, {~0U, ~0U}}) {
    write(file, be32(0x803) + be32(10) + be32(height) + be32(width) + "data");
    expect_error([&] { header_of(file); },
                 {"byte 8", std::to_string(height), "implausible image size"});
  }
  write(file, be32(0x803) + be32(0) + be32(28) + be32(28));
  expect_error([&] { header_of(file); }, {"byte 4", "a count of 0"});
}

TEST(HostileIdx, a_huge_count_is_met_with_the_size_of_the_file) {
  const TempDirectory directory;
  const auto file = write(directory / "i", be32(0x803) + be32(~0U) + be32(28) + be32(28) + "short");
  expect_error([&] { header_of(file); }, {"holds 21 bytes", "4294967295 images", "truncated"});
}

}  // namespace
}  // namespace feedrate::converters
