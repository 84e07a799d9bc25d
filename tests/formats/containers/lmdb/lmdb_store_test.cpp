// What an LMDB costs in memory while it is written.

#include "formats/containers/lmdb/lmdb_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

/// KiB of the file's maps that this process has in memory.
std::uint64_t mapped_kib(const fs::path& file) {
  std::ifstream smaps("/proc/self/smaps");
  std::uint64_t sum = 0;
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first.find('-') != std::string::npos) ours = line.ends_with(file.string());
    if (ours && first == "Rss:") sum += std::stoull(second);
  }
  return sum;
}

TEST(UnitLmdbStore, however_much_is_written_few_of_its_pages_stay_in_memory) {
  const testing::TempDirectory directory;
  LmdbStore store(directory / "data.mdb");
  std::uint64_t early = 0, late = 0;
  constexpr unsigned batch = 1000, remembered = 64;  // as the store has them
  for (unsigned i = 0; i < 4 * remembered * batch; ++i) {
    std::string key = std::to_string(i);
    key.insert(0, 8 - key.size(), '0');
    std::ranges::fill(store.put(key, 24), std::byte{7});
    if (i % batch != 0) continue;
    std::uint64_t& most = i < remembered * batch ? early : late;
    most = std::max(most, mapped_kib(directory / "data.mdb"));
  }
  EXPECT_GT(early, 0U) << "the test looks at the wrong map";
  EXPECT_LT(late, early + early / 2) << "in KiB; it would be four times as much";
  store.close();
}

}  // namespace
}  // namespace feedrate::formats
