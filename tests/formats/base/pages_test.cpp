#include "formats/base/pages.h"

#include <gtest/gtest.h>

namespace feedrate::formats {
namespace {

TEST(UnitPages, what_is_asked_for_begins_with_a_page_of_any_size) {
  alignas(65536) static std::byte memory[3 * 65536];
  const Bytes some(memory + 65536 + 5000, 100);
  const Bytes small = from_page_begin(some, 4096), large = from_page_begin(some, 65536);
  EXPECT_EQ(small.data(), memory + 65536 + 4096);
  EXPECT_EQ(large.data(), memory + 65536);
  EXPECT_EQ(small.data() + small.size(), some.data() + some.size());
  EXPECT_EQ(large.data() + large.size(), some.data() + some.size());
  EXPECT_EQ(from_page_begin(large, 65536).data(), large.data());
  EXPECT_EQ(from_page_begin(some).data(), from_page_begin(some, page_bytes()).data());
}

}  // namespace
}  // namespace feedrate::formats
