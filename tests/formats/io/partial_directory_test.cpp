#include "formats/io/partial_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

TEST(UnitPartialDirectory, the_final_name_appears_with_commit) {
  TempDirectory temporary;
  const fs::path path = temporary / "out";
  PartialDirectory partial(path);
  write_text(partial.path() / "file", "content");
  EXPECT_EQ(partial.path(), temporary / "out.partial");
  EXPECT_FALSE(fs::exists(path));
  partial.commit();
  EXPECT_EQ(read_text(path / "file"), "content");
  EXPECT_FALSE(fs::exists(temporary / "out.partial"));
}

TEST(UnitPartialDirectory, without_commit_nothing_is_left_not_even_new_parents) {
  TempDirectory temporary;
  {
    PartialDirectory partial(temporary / "a/b/out");
    write_text(partial.path() / "file", "content");
  }
  EXPECT_TRUE(fs::is_empty(temporary.path()));
}

TEST(UnitPartialDirectory, a_trailing_slash_changes_nothing) {
  TempDirectory temporary;
  PartialDirectory partial(temporary / "out/");
  partial.commit();
  EXPECT_TRUE(fs::is_directory(temporary / "out"));
}

/// Leaves what a killed process leaves.
void leave(const fs::path& target, const fs::path& file) {
  PartialDirectory partial(target);
  partial.keep();
  fs::create_directories((partial.path() / file).parent_path());
  write_text(partial.path() / file, "old");
}

/// Beside the mark.
bool holds_nothing(const fs::path& directory) {
  return std::ranges::all_of(
      fs::directory_iterator(directory), fs::directory_iterator(),
      [](const auto& entry) { return entry.path().filename() == PartialDirectory::mark; });
}

TEST(UnitPartialDirectory, what_a_killed_run_left_is_removed) {
  TempDirectory temporary;
  leave(temporary / "out", "inner/stale");
  PartialDirectory partial(temporary / "out");
  EXPECT_TRUE(holds_nothing(partial.path()));
}

TEST(UnitPartialDirectory, its_mark_is_gone_when_it_is_complete) {
  TempDirectory temporary;
  PartialDirectory partial(temporary / "out");
  EXPECT_TRUE(fs::exists(partial.path() / PartialDirectory::mark));
  partial.commit();
  EXPECT_TRUE(fs::is_empty(temporary / "out"));
}

TEST(UnitPartialDirectory, a_mark_that_was_left_in_a_complete_one_is_removed) {
  TempDirectory temporary;
  fs::create_directory(temporary / "out");
  write_text(temporary / "out" / PartialDirectory::mark, "");
  write_text(temporary / "out/file", "content");
  expect_error([&] { PartialDirectory{temporary / "out"}; }, {"/out", "exists already"});
  EXPECT_FALSE(fs::exists(temporary / "out" / PartialDirectory::mark));
  EXPECT_EQ(read_text(temporary / "out/file"), "content");
}

TEST(UnitPartialDirectory, an_empty_one_is_taken) {
  TempDirectory temporary;
  fs::create_directory(temporary / "out.partial");
  PartialDirectory(temporary / "out").commit();
  EXPECT_TRUE(fs::is_empty(temporary / "out"));
}

// Versions before the mark left a journal.
TEST(UnitPartialDirectory, one_of_an_older_version_is_taken) {
  TempDirectory temporary;
  for (const auto stale : {PartialDirectory::Stale::adopted, PartialDirectory::Stale::removed}) {
    fs::create_directory(temporary / "out.partial");
    for (const std::string_view name : {"progress.json", "progress.bin", "data.rec"}) {
      write_text(temporary / "out.partial" / name, "old");
    }
    PartialDirectory partial(temporary / "out", stale);
    EXPECT_EQ(partial.adopted(), stale == PartialDirectory::Stale::adopted);
    EXPECT_EQ(holds_nothing(partial.path()), stale == PartialDirectory::Stale::removed);
    EXPECT_TRUE(fs::exists(partial.path() / PartialDirectory::mark));
    if (partial.adopted()) partial.start_anew();
  }
}

TEST(UnitPartialDirectory, started_anew_an_adopted_one_is_empty_and_does_not_stay) {
  TempDirectory temporary;
  leave(temporary / "out", "inner/stale");
  {
    PartialDirectory partial(temporary / "out", PartialDirectory::Stale::adopted);
    partial.start_anew();
    EXPECT_FALSE(partial.adopted());
    EXPECT_TRUE(holds_nothing(partial.path()));
    EXPECT_THROW(PartialDirectory{temporary / "out"}, BeingWritten);
  }
  EXPECT_FALSE(fs::exists(temporary / "out.partial"));
}

/// What somebody else may have under the name of a partial directory.
const std::pair<const char*, void (*)(const fs::path&)> foreign[] = {
    {"a file", [](const fs::path& at) { write_text(at, "precious"); }},
    {"a link to nothing", [](const fs::path& at) { fs::create_symlink("nowhere", at); }},
    {"a link to a directory",
     [](const fs::path& at) {
       fs::create_directory(at.parent_path() / "mine");
       write_text(at.parent_path() / "mine/file", "precious");
       fs::create_directory_symlink("mine", at);
     }},
    {"a pipe", [](const fs::path& at) { ASSERT_EQ(mkfifo(at.c_str(), 0600), 0); }},
    {"files",
     [](const fs::path& at) {
       fs::create_directories(at / "inner");
       write_text(at / "inner/file", "precious");
     }},
    {"an empty directory in it", [](const fs::path& at) { fs::create_directories(at / "cat"); }},
    {"a finished dataset",
     [](const fs::path& at) {
       fs::create_directory(at);
       write_text(at / "data.rec", "precious");
       write_text(at / "feedrate.json", "{}");
     }},
    {"a finished part",
     [](const fs::path& at) {
       fs::create_directory(at);
       for (const char* name : {"data.rec", "feedrate.json", "progress.json", "progress.bin"}) {
         write_text(at / name, "precious");
       }
     }},
    {"a directory called as the mark",
     [](const fs::path& at) { fs::create_directories(at / PartialDirectory::mark); }},
};

/// Every name below a directory, with the bytes of files.
std::map<std::string, std::string> all_below(const fs::path& directory) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const bool file = fs::is_regular_file(entry.symlink_status());
    found[entry.path().string()] = file ? read_text(entry.path()) : "";
  }
  return found;
}

TEST(HostilePartialDirectory, what_is_somebody_elses_is_kept_and_named) {
  for (const auto& [what, make] : foreign) {
    SCOPED_TRACE(what);
    TempDirectory temporary;
    make(temporary / "out.partial");
    const auto before = all_below(temporary.path());
    for (const auto stale : {PartialDirectory::Stale::removed, PartialDirectory::Stale::adopted}) {
      expect_error([&] { PartialDirectory(temporary / "out", stale); },
                   {"out.partial", "nothing that an interrupted run left"});
      EXPECT_EQ(all_below(temporary.path()), before);
    }
  }
}

TEST(HostilePartialDirectory, an_existing_target_is_kept_and_named) {
  TempDirectory temporary;
  write_text(temporary / "out", "precious");
  expect_error([&] { PartialDirectory{temporary / "out"}; }, {"/out", "exists already"});
  EXPECT_EQ(read_text(temporary / "out"), "precious");
}

TEST(HostilePartialDirectory, a_target_that_appears_meanwhile_is_not_replaced) {
  TempDirectory temporary;
  PartialDirectory partial(temporary / "out");
  fs::create_directory(temporary / "out");
  expect_error([&] { partial.commit(); }, {"/out", "exists"});
}

TEST(HostilePartialDirectory, a_directory_that_another_run_fills_is_refused) {
  TempDirectory temporary;
  PartialDirectory partial(temporary / "out");
  write_text(partial.path() / "file", "content");
  expect_error([&] { PartialDirectory{temporary / "out"}; }, {"out.partial", "another process"});
  EXPECT_EQ(read_text(partial.path() / "file"), "content");
}

TEST(HostilePartialDirectory, a_parent_that_cannot_be_written_is_named) {
  TempDirectory temporary;
  write_text(temporary / "file", "no directory");
  expect_error([&] { PartialDirectory{temporary / "file/out"}; }, {"/file"});
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere; run as another user to test it";
  fs::create_directory(temporary / "closed");
  fs::permissions(temporary / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  expect_error([&] { PartialDirectory{temporary / "closed/out"}; },
               {"/closed", "Permission denied"});
}

}  // namespace
}  // namespace feedrate::formats
