#include "formats/io/partial_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(UnitPartialDirectory, what_a_killed_run_left_is_removed) {
  TempDirectory temporary;
  fs::create_directory(temporary / "out.partial");
  write_text(temporary / "out.partial/stale", "old");
  PartialDirectory partial(temporary / "out");
  EXPECT_TRUE(fs::is_empty(partial.path()));
}

TEST(UnitPartialDirectory, started_anew_an_adopted_one_is_empty_and_does_not_stay) {
  TempDirectory temporary;
  fs::create_directories(temporary / "out.partial/inner");
  write_text(temporary / "out.partial/inner/stale", "old");
  {
    PartialDirectory partial(temporary / "out", PartialDirectory::Stale::adopted);
    partial.start_anew();
    EXPECT_FALSE(partial.adopted());
    EXPECT_TRUE(fs::is_empty(partial.path()));
    EXPECT_THROW(PartialDirectory{temporary / "out"}, BeingWritten);
  }
  EXPECT_FALSE(fs::exists(temporary / "out.partial"));
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
