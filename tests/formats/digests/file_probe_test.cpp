#include "formats/digests/file_probe.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

TEST(UnitFileProbe, differs_where_a_probed_byte_does) {
  const testing::TempDirectory directory;
  const auto file = directory / "file";
  for (const std::size_t size : {0UL, 1UL, 5000UL, 262'144UL, 262'145UL, 3'000'000UL}) {
    std::string content(size, 'a');
    write_text(file, content);
    const std::uint64_t before = file_probe(file);
    EXPECT_NE(before, 0U);
    EXPECT_EQ(file_probe(file), before);
    std::vector<std::size_t> places;
    if (size > 0) places = {0, size - 1};
    if (size > 2 && size <= 262'144) places.push_back(size / 2);
    for (const std::size_t place : places) {
      content[place] = 'b';
      write_text(file, content);
      EXPECT_NE(file_probe(file), before) << size << " bytes, other at " << place;
      content[place] = 'a';
    }
    write_text(file, content + "a");
    EXPECT_NE(file_probe(file), before) << size;
  }
  EXPECT_EQ(file_probe(directory / "nothing"), 0U);
}

}  // namespace
}  // namespace feedrate::formats
