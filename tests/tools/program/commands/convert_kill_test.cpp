// `feedrate convert` and `feedrate synth`, killed between any two system calls: what is left is
// recognised by the next run, and what is somebody else's is kept.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/support/in_text.h"
#include "tests/support/killed_at_call.h"
#include "tests/support/partial_writes.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using namespace testing;
namespace fs = std::filesystem;

using CommandLine = std::vector<std::string>;

CommandLine extended(CommandLine words, const CommandLine& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class CommandsConvertKilled : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"synth", "mnist", "--images", "12", "--out", archives()});
    fs::create_directory(start_);
  }

  std::string archives() const { return (directory_ / "archives").string(); }
  /// In a copy of start_, in which each attempt works.
  std::string out() const { return (work_ / "out").string(); }
  CommandLine line(const std::string& format, const CommandLine& more = {}) const {
    return extended(
        {"convert", "mnist", archives(), "--to", format, "--threads", "2", "--out", out()}, more);
  }

  static Said run(const CommandLine& words) {
    Said said = testing::feedrate(words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said;
  }

  void begin() const {
    fs::remove_all(work_);
    fs::copy(start_, work_, fs::copy_options::recursive);
  }

  /// All that is there, but the journals of parts, which tell how long these took.
  std::map<std::string, std::string> found() const {
    auto files = files_of(work_);
    std::erase_if(files, [](const auto& file) { return has(file.first, "/progress.json"); });
    return files;
  }

  /// What `words` make without being killed.
  std::map<std::string, std::string> made_by(const CommandLine& words) const {
    begin();
    run(words);
    return found();
  }

  /// Leaves in start_ what `words` leave when they are killed at the middle of their calls.
  void start_with_what_is_left_by(const CommandLine& words) const {
    unsigned calls = 1;
    for (begin(); kill_before_call(words, 2 * calls) == Ended::killed; begin()) ++calls;
    begin();
    kill_before_call(words, calls);
    fs::remove_all(start_);
    fs::copy(work_, start_, fs::copy_options::recursive);
  }

  /// Leaves in start_ what `words` leave when they are stopped, so that they can be resumed.
  void start_with_what_is_stopped_of(const CommandLine& words) const {
    unsigned call = 1;
    do {
      begin();
      kill_before_call(words, call++, SIGTERM);
    } while (call < 100 && !fs::exists(out() + ".partial/progress.json"));
    fs::remove_all(start_);
    fs::copy(work_, start_, fs::copy_options::recursive);
  }

  /// Kills `words` before each of their calls that changes files. Then `again` ends well, and all that
  /// is there is `wanted`.
  void expect_recovery(const CommandLine& words, const std::vector<CommandLine>& again,
                       const std::map<std::string, std::string>& wanted) const {
    const fs::path left = directory_ / "left";
    unsigned call = 1;
    for (;; ++call) {
      begin();
      const Ended ended = kill_before_call(words, call);
      if (ended == Ended::without_tracing) GTEST_SKIP() << "programs cannot be traced here";
      if (ended == Ended::by_itself) break;
      fs::remove_all(left);
      fs::copy(work_, left, fs::copy_options::recursive);
      for (const CommandLine& one : again) {
        fs::remove_all(work_);
        fs::copy(left, work_, fs::copy_options::recursive);
        const Said said = testing::feedrate(one);
        const bool there = said.code == exit_failed && has(said.errors, "exists already");
        EXPECT_TRUE(said.code == exit_done || there) << "call " << call << ": " << said.errors;
        EXPECT_TRUE(found() == wanted) << "call " << call << ", then " << one.back();
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(call, 4U);
  }

  const TempDirectory directory_;
  const fs::path start_ = directory_ / "start";
  const fs::path work_ = directory_ / "work";
};

TEST_F(CommandsConvertKilled, at_any_call_it_is_done_again_or_resumed) {
  const auto whole = made_by(line("recordio"));
  expect_recovery(line("recordio"), {line("recordio"), line("recordio", {"--resume"})}, whole);
}

TEST_F(CommandsConvertKilled, while_it_removes_what_another_left_it_is_done_again) {
  const CommandLine few{"--limit", "2"};
  start_with_what_is_left_by(line("folder", few));
  ASSERT_FALSE(fs::is_empty(start_ / "out.partial"));
  for (const CommandLine& words :
       {line("folder", few), line("folder", {"--limit", "2", "--resume"})}) {
    expect_recovery(words, {line("folder", few)}, made_by(line("folder", few)));
  }
}

TEST_F(CommandsConvertKilled, while_it_removes_what_could_be_resumed_it_starts_over) {
  for (const CommandLine& words : {line("webdataset", {"--shards", "4"}),
                                   line("tfrecord", {"--shards", "4", "--gzip"}), line("folder")}) {
    const auto whole = made_by(words);
    fs::remove_all(start_);
    fs::create_directory(start_);
    start_with_what_is_stopped_of(words);
    ASSERT_TRUE(fs::exists(start_ / "out.partial/progress.json"));
    expect_recovery(words, {extended(words, {"--resume"})}, whole);
    fs::remove_all(start_);
    fs::create_directory(start_);
  }
}

TEST_F(CommandsConvertKilled, what_is_whole_is_kept_by_resume) {
  begin();
  run(line("webdataset"));
  const auto whole = found();
  const Said again = run(line("webdataset", {"--resume"}));
  EXPECT_TRUE(has(again.output, "whole from an earlier run")) << again.output;
  EXPECT_TRUE(found() == whole);
  EXPECT_EQ(testing::feedrate(line("webdataset", {"--resume", "--limit", "3"})).code, exit_failed);
  EXPECT_EQ(testing::feedrate(line("webdataset")).code, exit_failed);
}

TEST_F(CommandsConvertKilled, a_part_of_archives_that_were_replaced_is_no_part_of_these) {
  begin();
  run(line("recordio", {"--shards", "2", "--part", "1/2"}));
  // Of the same names and sizes.
  const fs::path other = directory_ / "other";
  run({"synth", "mnist", "--images", "12", "--seed", "2", "--out", other.string()});
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}) {
    const std::uintmax_t size = fs::file_size(fs::path(archives()) / name);
    fs::copy_file(other / name, fs::path(archives()) / name, fs::copy_options::overwrite_existing);
    fs::resize_file(fs::path(archives()) / name, size);  // no matter that it may be damaged
  }
  const Said said =
      testing::feedrate(line("recordio", {"--shards", "2", "--part", "1/2", "--resume"}));
  EXPECT_EQ(said.code, exit_failed) << said.output;
  EXPECT_TRUE(has(said.errors, "was made with 'input train-images-idx3-ubyte.gz, ")) << said.errors;
}

TEST_F(CommandsConvertKilled, it_is_resumed_beside_new_files_in_the_directory_of_its_archives) {
  const auto whole = made_by(line("webdataset"));
  start_with_what_is_stopped_of(line("webdataset"));
  begin();
  write_text(fs::path(archives()) / "notes.txt", "new");
  run(line("webdataset", {"--resume"}));
  EXPECT_TRUE(found() == whole);
}

TEST_F(CommandsConvertKilled, while_it_fails_it_is_done_again) {
  const auto whole = made_by(line("webdataset"));
  start_with_what_is_left_by(line("webdataset"));
  const fs::path spare = directory_ / "damaged";
  fs::copy(archives(), spare, fs::copy_options::recursive);
  const fs::path images = spare / "train-images-idx3-ubyte.gz";
  fs::resize_file(images, fs::file_size(images) - 100);
  CommandLine failing = line("webdataset");
  failing[2] = spare.string();
  expect_recovery(failing, {line("webdataset"), line("webdataset", {"--resume"})}, whole);
}

TEST_F(CommandsConvertKilled, a_part_and_the_join_go_on) {
  const auto part = [&](const std::string& which) {
    return line("recordio", {"--shards", "2", "--part", which, "--resume"});
  };
  const auto whole = made_by(line("recordio", {"--shards", "2"}));
  const auto start_with = [&](const CommandLine& words) {
    begin();
    run(words);
    fs::remove_all(start_);
    fs::copy(work_, start_, fs::copy_options::recursive);
  };
  start_with(part("2/2"));
  expect_recovery(part("1/2"), {part("1/2")}, made_by(part("1/2")));
  start_with(part("1/2"));
  expect_recovery({"convert", "--join", out()}, {{"convert", "--join", out()}}, whole);
}

TEST_F(CommandsConvertKilled, synth_is_done_again) {
  const CommandLine words{"synth", "mnist", "--images", "12", "--out", out()};
  expect_recovery(words, {words}, made_by(words));
}

/// Every name below a directory, with the bytes of files.
std::map<std::string, std::string> everything_in(const fs::path& directory) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const bool file = fs::is_regular_file(entry.symlink_status());
    found[entry.path().string()] = file ? read_text(entry.path()) : "";
  }
  return found;
}

TEST_F(CommandsConvertKilled, what_is_somebody_elses_is_refused_and_kept) {
  begin();
  const fs::path partial = out() + ".partial";
  const fs::path of_part = out() + ".part-1-of-2.partial";
  const std::function<void()> kinds[] = {
      [&] { write_text(partial, "precious"); }, [&] { fs::create_symlink(archives(), partial); },
      [&] { fs::copy(archives(), partial); },
      [&] {
        run(line("recordio"));
        fs::rename(out(), partial);
      },
      [&] {
        run(line("recordio", {"--shards", "2", "--part", "1/2"}));
        fs::rename(out() + ".part-1-of-2", partial);
      }};
  for (const auto& make : kinds) {
    make();
    fs::copy(partial, of_part, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    const auto before = everything_in(work_);
    for (const CommandLine& words :
         {line("recordio"), line("recordio", {"--resume"}), line("lmdb", {"--split", "train"}),
          line("recordio", {"--shards", "2", "--part", "1/2"}),
          line("recordio", {"--shards", "2", "--part", "1/2", "--resume"}),
          CommandLine{"synth", "mnist", "--images", "12", "--out", out()}}) {
      const Said said = testing::feedrate(words);
      EXPECT_EQ(said.code, exit_failed) << said.output;
      EXPECT_TRUE(
          has(said.errors, ".partial: is nothing that an interrupted run left, so it is kept"))
          << said.errors;
      EXPECT_TRUE(everything_in(work_) == before) << words.back();
    }
    fs::remove_all(partial);
    fs::remove_all(of_part);
  }
}

}  // namespace
}  // namespace feedrate::tools
