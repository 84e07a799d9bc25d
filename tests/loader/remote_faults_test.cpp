// Whatever a server does, batches are those of the disk, or an error names the object that changed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "formats/container.h"
#include "formats/remote_dataset.h"
#include "loader/recipe.h"
#include "tests/loader/batches.h"
#include "tests/support/range_server.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr std::uint64_t block_bytes = std::uint64_t{64} << 10;
constexpr double broken_blocks = 0.05;
constexpr unsigned seconds_of_a_hang = 120;

std::uint64_t blocks_of(const ServedRequest& request) {
  const auto range = request.headers.find("range");
  if (range == request.headers.end()) return 1;
  const std::string& text = range->second;  // "bytes=1-2"
  const std::uint64_t first = std::stoull(text.substr(6));
  const std::uint64_t last = std::stoull(text.substr(text.find('-') + 1));
  return (last - first) / block_bytes + 1;
}

/// Breaks each of the blocks asked for with that probability; `changes`: also by another version.
Fault broken(const ServedRequest& request, std::uint64_t seed, bool changes) {
  std::mt19937_64 random(seed * 1'000'003 + request.number);
  std::uniform_real_distribution<double> share(0, 1);
  for (std::uint64_t block = 0; block < blocks_of(request); ++block) {
    if (share(random) >= broken_blocks) continue;
    switch (random() % (changes ? 7 : 6)) {
      case 0:
        return {.resets = true};
      case 1:
        return {.status = 503};
      case 2:
        return {.status = 500};
      case 3:
        return {.delay = std::chrono::milliseconds(random() % 30)};
      case 4:
      case 5:
        return {.cut_after = block * block_bytes + random() % block_bytes};
      default:
        return {.etag = "\"another\"", .ignores_conditions = random() % 2 == 0};
    }
  }
  return {};
}

TEST(UnitRemoteFaults, no_run_is_wrong_and_none_hangs) {
  const char* const long_tests = std::getenv("FEEDRATE_LONG_TESTS");
  const bool is_long = long_tests != nullptr && std::string(long_tests) == "1";
  const unsigned runs = is_long ? 1000 : 16;
  const TempDirectory root;
  std::vector<Example> examples = make_examples({160, 200, 3}, 40);
  std::mt19937 noise(1);
  for (Example& example : examples) {
    for (std::byte& value : example.image.pixels) value = static_cast<std::byte>(noise());
  }
  write_dataset(container("recordio"), png_codec, root / "set", examples);
  RangeServer server(root.path());
  const LoaderOptions made{.batch = 8, .epochs = 1};
  const std::vector<std::string> expected =
      digests(*open_dataset(root / "set"), recipe("none"), made);
  unsigned right = 0, changed = 0;
  for (unsigned run = 0; run < runs; ++run) {
    const bool changes = run % 4 == 3;
    server.set_faults(
        [run, changes](const ServedRequest& request) { return broken(request, run, changes); });
    RemoteSettings settings;
    const TempDirectory cache;
    if (run % 2 == 1) settings.cache_dir = cache.path().string();
    settings.connections = 1 + run % 16;
    LoaderOptions options = made;
    options.threads = run % 4;
    ::alarm(seconds_of_a_hang);  // ends the test
    try {
      const auto dataset = open_url(server.url() + "/set/", settings);
      EXPECT_EQ(digests(*dataset, recipe("none"), options), expected) << run;
      ++right;
    } catch (const Error& error) {
      EXPECT_TRUE(changes) << run << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find("was changed while it was being read"),
                std::string::npos)
          << run << ": " << error.what();
      ++changed;
    }
    ::alarm(0);
  }
  EXPECT_GE(right, runs / 4 * 3);
  EXPECT_EQ(right + changed, runs);
  RecordProperty("right", std::to_string(right));
  RecordProperty("changed", std::to_string(changed));
}

}  // namespace
}  // namespace feedrate::loader
