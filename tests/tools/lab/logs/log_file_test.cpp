// A log's file: what runs after one another leave in it, and runs at the same time.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "tests/support/expect_error.h"
#include "tests/support/run_program.h"
#include "tests/tools/logged_run.h"

namespace feedrate::tools {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::lenet;
using testing::objects_of;
using testing::TempDirectory;

TEST(UnitLogFile, a_resumed_run_goes_on_behind_the_lines_of_earlier_ones) {
  const TempDirectory directory;
  struct Case {
    std::string_view kind, mark, seam;
  };
  for (const auto& [kind, mark, seam] : {Case{"log", "", R"("event":"resume")"},
                                         Case{"mllog", ":::MLLOG ", "init_checkpoint_step"}}) {
    const fs::path file = directory / kind;
    const LogPaths paths{{kind, file}};
    { Logs{paths}.begin(lenet, 2); }
    const auto earlier = objects_of(file, mark);
    const std::string line = testing::slurp(file).substr(0, 20);
    std::ofstream(file, std::ios::app) << line;  // torn
    { Logs(paths, EarlierLines::keep).resume(2, "two.st"); }
    const auto both = objects_of(file, mark);
    ASSERT_GT(both.size(), earlier.size() + 1) << kind;
    EXPECT_TRUE(std::equal(earlier.begin(), earlier.end(), both.begin())) << kind;
    EXPECT_NE(both[earlier.size() + 1].dump().find(seam), std::string::npos) << kind;
  }
}

TEST(UnitLogFile, a_resumed_run_begins_a_file_where_there_is_none) {
  const TempDirectory directory;
  { Logs({{"log", directory / "log"}}, EarlierLines::keep).resume(2, "two.st"); }
  EXPECT_EQ(objects_of(directory / "log").at(1).at("step"), 2);
}

TEST(HostileLogFile, a_file_that_is_no_log_is_not_gone_on_with) {
  const TempDirectory directory;
  for (const LogKind& kind : log_kinds) {
    if (kind.line.empty()) continue;
    for (const std::string text : {"a", "notes\n", "PK\3\4 no line end", "\n"}) {
      std::ofstream(directory / "file") << text;
      expect_error(
          [&] {
            Logs({{kind.name, directory / "file"}}, EarlierLines::keep);
          },
          {"file: is no --" + std::string(kind.name), std::string(kind.line)});
      EXPECT_EQ(testing::slurp(directory / "file"), text);
    }
  }
}

TEST(HostileLogFile, two_runs_do_not_keep_one_log_at_a_time) {
  const TempDirectory directory;
  for (const LogKind& kind : log_kinds) {
    const LogPaths paths{{kind.name, directory / kind.name}};
    std::optional<Logs> first(paths);
    first->begin(lenet, 2);
    if (kind.place == "DIR") continue;  // a file for each
    const std::string held = testing::slurp(directory / kind.name);
    for (const EarlierLines earlier : {EarlierLines::erase, EarlierLines::keep}) {
      expect_error([&] { Logs(paths, earlier); },
                   {std::string(kind.name) + ": another process keeps its log there"});
    }
    EXPECT_EQ(testing::slurp(directory / kind.name), held);
    first.reset();
    EXPECT_NO_THROW(Logs{paths});
  }
}

}  // namespace
}  // namespace feedrate::tools
