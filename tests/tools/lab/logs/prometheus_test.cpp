// The file that Prometheus' node exporter reads, of a training and of a loader alone.

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/tools/logged_run.h"

namespace feedrate::tools {
using namespace loader;

namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::lenet;
using testing::loading;
using testing::progress;
using testing::TempDirectory;
using testing::validation;

/// "name{labels}" → value. Every sample has a type and a help before it.
std::map<std::string, std::string> read_metrics(const fs::path& file) {
  std::map<std::string, std::string> samples;
  std::ifstream stream(file);
  std::string help, type;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string first, second, name;
    words >> first >> second >> name;
    if (second == "HELP") help = name;
    if (second == "TYPE") type = name;
    if (first == "#") continue;
    const std::string sample = line.substr(0, line.find('{'));
    EXPECT_EQ(sample, help) << line;
    EXPECT_EQ(sample, type) << line;
    EXPECT_TRUE(samples.emplace(sample, line.substr(line.rfind(' ') + 1)).second) << line;
    EXPECT_NE(line.find(R"({network="lenet",device="cpu",dataset="data/\"odd\"\\name\n"} )"),
              std::string::npos)
        << line;
  }
  return samples;
}

TEST(UnitPrometheus, shows_the_state_of_a_training) {
  const TempDirectory directory;
  Logs logs({{"metrics", directory / "feedrate.prom"}});
  logs.begin(lenet, 2);
  EXPECT_EQ(read_metrics(directory / "feedrate.prom"),
            (std::map<std::string, std::string>{{"feedrate_train_running", "1"}}));
  logs.progress(progress(4, 2.5));
  logs.validated(validation(4));
  logs.end();
  EXPECT_EQ(read_metrics(directory / "feedrate.prom"),
            (std::map<std::string, std::string>{{"feedrate_train_running", "0"},
                                                {"feedrate_train_steps_total", "4"},
                                                {"feedrate_train_epoch", "1"},
                                                {"feedrate_train_loss", "2.5"},
                                                {"feedrate_train_top1_ratio", "0.5"},
                                                {"feedrate_train_top5_ratio", "0.75"},
                                                {"feedrate_train_images_per_second", "1000"},
                                                {"feedrate_train_stall_ratio", "0.125"},
                                                {"feedrate_train_learning_rate", "0.25"},
                                                {"feedrate_validation_loss", "0.5"},
                                                {"feedrate_validation_top1_ratio", "0.875"},
                                                {"feedrate_validation_top5_ratio", "1"}}));
}

TEST(UnitPrometheus, a_failed_training_does_not_run_and_leaves_no_other_file) {
  const TempDirectory directory;
  {
    Logs logs({{"metrics", directory / "feedrate.prom"}});
    logs.begin(lenet, 2);
    logs.progress(progress(4, std::numeric_limits<double>::infinity()));
  }
  const auto samples = read_metrics(directory / "feedrate.prom");
  EXPECT_EQ(samples.at("feedrate_train_running"), "0");
  EXPECT_EQ(samples.at("feedrate_train_loss"), "+Inf");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(HostilePrometheus, a_file_that_cannot_be_written_for_a_while_does_not_end_training) {
  const TempDirectory directory;
  fs::create_directory(directory / "gone");
  Logs logs({{"metrics", directory / "gone/feedrate.prom"}});
  logs.begin(lenet, 2);
  fs::remove_all(directory / "gone");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it writes once a second
  EXPECT_NO_THROW(logs.progress(progress(4, 2.5)));
  expect_error([&] { logs.end(); }, {"feedrate.prom"});
}

TEST(HostilePrometheus, a_name_that_is_not_utf8_does_not_spoil_the_file) {
  Event event;
  event.become("start", loading("data/\xff\"x"));
  EXPECT_NE(prometheus_log.bytes(event).find("{dataset=\"data/\uFFFD\\\"x\"} 1\n"),
            std::string::npos);
}

TEST(UnitPrometheus, shows_the_state_of_a_loader_and_its_end) {
  const TempDirectory directory;
  const fs::path file = directory / "load.prom";
  {
    Logs logs({{"metrics", file}});
    logs.begin(loading("data"));
    EXPECT_NE(testing::slurp(file).find("\nfeedrate_load_running{dataset=\"data\"} 1\n"),
              std::string::npos);
    // Within the same second: not written, but kept.
    logs.progress(fields_of(LoaderStats{.images = 200, .wait_seconds = 0.5, .threads = 3}));
    EXPECT_EQ(testing::slurp(file).find("images"), std::string::npos);
  }
  EXPECT_NE(testing::slurp(file).find("\nfeedrate_load_running{dataset=\"data\"} 0\n"),
            std::string::npos);
  EXPECT_NE(testing::slurp(file).find("feedrate_load_images_total{dataset=\"data\"} 200\n"),
            std::string::npos);
}

TEST(HostilePrometheus, a_load_whose_file_cannot_be_written_fails_at_its_end) {
  const TempDirectory directory;
  fs::create_directory(directory / "gone");
  Logs logs({{"metrics", directory / "gone/load.prom"}});
  logs.begin(loading("data"));
  fs::remove_all(directory / "gone");
  EXPECT_NO_THROW(logs.progress(fields_of(LoaderStats{.images = 1})));
  expect_error([&] { logs.end(); }, {"load.prom"});
}

}  // namespace
}  // namespace feedrate::tools
