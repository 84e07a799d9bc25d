#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "formats/io/file.h"
#include "loader/loader.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(UnitTrace, shows_each_workers_runs_and_the_consumers_batches) {
  const auto pause = [](std::uint64_t, Sample&) { std::this_thread::sleep_for(1ms); };
  const MemoryDataset dataset(40, {28, 28, 1}, pause);
  Loader loader(dataset, recipe("none"), {.threads = 2, .batch = 4, .diagnosis = {.trace = true}});
  while (loader.next() != nullptr) continue;
  const TempDirectory directory;
  loader.write_trace(directory / "trace.json");
  const auto trace = nlohmann::json::parse(read_text(directory / "trace.json"));
  std::set<std::uint64_t> filled;
  std::set<std::uint64_t> used;
  std::set<int> workers;
  std::set<std::string> names;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      names.insert(event.at("args").at("name"));
      continue;
    }
    EXPECT_GE(event.at("ts").get<double>(), 0);
    if (event.at("name") == "fill") {
      filled.insert(event.at("args").at("batch").get<std::uint64_t>());
      workers.insert(event.at("tid").get<int>());
      EXPECT_GE(event.at("dur").get<double>(), 3900) << "four samples of 1 ms";
    } else if (event.at("name") == "use batch") {
      used.insert(event.at("args").at("batch").get<std::uint64_t>());
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"consumer", "worker 0", "worker 1"}));
  EXPECT_EQ(workers, (std::set{1, 2}));
  EXPECT_EQ(filled.size(), 10U);
  EXPECT_EQ(used.size(), 10U);
  EXPECT_EQ(trace.at("otherData").at("events_left_out"), 0);
}

TEST(HostileTrace, one_that_cannot_be_written_leaves_the_one_before) {
  const MemoryDataset dataset(4, {1, 1, 1});
  Loader loader(dataset, recipe("none"), {.threads = 1, .batch = 4, .diagnosis = {.trace = true}});
  while (loader.next() != nullptr) continue;
  const TempDirectory directory;
  loader.write_trace(directory / "trace.json");
  const std::string before = read_text(directory / "trace.json");
  std::filesystem::create_directory(directory / "trace.json.new");  // where it is written first
  expect_error([&] { loader.write_trace(directory / "trace.json"); }, {"trace.json.new"});
  EXPECT_EQ(read_text(directory / "trace.json"), before);
}

TEST(UnitTrace, a_full_lane_keeps_its_first_events_and_counts_the_others) {
  const MemoryDataset dataset(4, {1, 1, 1});
  Loader loader(dataset, recipe("none"),
                {.threads = 0, .batch = 1, .epochs = 0, .diagnosis = {.trace = true}});
  for (int i = 0; i < 30000; ++i) loader.next();  // 30,000 fills and waits, 29,999 uses
  const TempDirectory directory;
  loader.write_trace(directory / "trace.json");
  const auto trace = nlohmann::json::parse(read_text(directory / "trace.json"));
  EXPECT_EQ(trace.at("traceEvents").size(), 65536U + 1);
  EXPECT_EQ(trace.at("otherData").at("events_left_out"), 89999 - 65536);
  EXPECT_EQ(trace.at("otherData").at("most_events_per_thread"), 65536);
}

TEST(UnitTrace, writing_a_trace_that_was_not_recorded_is_an_error) {
  const MemoryDataset dataset(4);
  const Loader loader(dataset, recipe("none"), {});
  expect_error([&] { loader.write_trace("nowhere.json"); }, {"no trace"});
}

}  // namespace
}  // namespace feedrate::loader
