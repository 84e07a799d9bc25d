#include <gtest/gtest.h>

#include <fstream>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tests/tools/rows.h"
#include "tools/lab/bench/results_file.h"

namespace feedrate::tools {
using namespace formats;

namespace {

TEST(UnitResultsFile, rows_added_are_rows_read) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  const ResultsFile again(path, Existing::resume);
  ASSERT_EQ(again.rows().size(), 1U);
  EXPECT_EQ(again.rows().front().images_per_second, 1000);
}

TEST(UnitResultsFile, a_file_with_rows_is_not_overwritten_unasked) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  testing::expect_error([&] { ResultsFile(path, Existing::refuse); }, {"has rows", "--resume"});
}

TEST(HostileResultsFile, an_unfinished_line_of_a_killed_bench_is_cut_off) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  const std::string whole = read_text(path);
  std::ofstream(path, std::ios::app) << whole.substr(0, whole.size() / 2);
  ResultsFile(path, Existing::resume).add(testing::supply("lmdb", 2, 2000));
  EXPECT_EQ(read_rows(path).rows.size(), 2U);
}

TEST(HostileResultsFile, a_file_given_by_mistake_stays_as_it_was) {
  const testing::TempDirectory directory;
  const auto path = directory / "precious";
  for (const std::string content : {"one line without an end", "a line\nand more", "{\"a\": 1}"}) {
    write_text(path, content);
    testing::expect_error([&] { ResultsFile(path, Existing::resume); }, {"precious"});
    EXPECT_EQ(read_text(path), content);
  }
}

TEST(UnitResultsFile, an_unused_new_file_is_removed_and_an_existing_one_stays) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  { const ResultsFile made(path, Existing::refuse); }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path).close();
  { const ResultsFile found(path, Existing::refuse); }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(HostileResultsFile, a_place_that_cannot_be_written_is_refused_at_once) {
  const testing::TempDirectory directory;
  testing::expect_error([&] { ResultsFile(directory / "absent" / "r", Existing::refuse); },
                        {"absent", "cannot open"});
  testing::expect_error([&] { ResultsFile(directory.path(), Existing::refuse); }, {"cannot open"});
}

TEST(HostileResultsFile, two_benches_do_not_write_one_file) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  const ResultsFile first(path, Existing::refuse);
  testing::expect_error([&] { ResultsFile(path, Existing::resume); }, {"another bench"});
}

}  // namespace
}  // namespace feedrate::tools
