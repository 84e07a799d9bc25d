#include "formats/io/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "formats/base/error.h"
#include "formats/io/mapped_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

TEST(UnitFile, what_is_written_in_pieces_is_mapped_whole) {
  TempDirectory temporary;
  const fs::path path = temporary / "file";
  const std::string large(3 << 20, 'x');
  OutputFile output(path);
  output.write("begin ");
  output.write(large);
  EXPECT_EQ(output.position(), 6 + large.size());
  output.write(" end");
  output.close();
  const MappedFile mapped(path);
  EXPECT_EQ(as_text(mapped.bytes()), "begin " + large + " end");
}

TEST(UnitFile, an_empty_file_is_an_empty_span) {
  TempDirectory temporary;
  OutputFile(temporary / "file").close();
  EXPECT_TRUE(MappedFile(temporary / "file").bytes().empty());
  EXPECT_EQ(read_text(temporary / "file"), "");
}

TEST(UnitFile, a_map_moves_without_losing_its_bytes) {
  TempDirectory temporary;
  write_text(temporary / "file", "content");
  MappedFile first(temporary / "file");
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());
  EXPECT_EQ(as_text(second.bytes()), "content");
}

TEST(UnitFile, storage_for_reading_only_grows) {
  TempDirectory temporary;
  write_text(temporary / "long", "a long content");
  write_text(temporary / "short", "short");
  const Descriptor directory = open_directory(temporary.path());
  Buffer storage;
  EXPECT_EQ(as_text(read_file_at(directory, "long", storage)), "a long content");
  EXPECT_EQ(as_text(read_file_at(directory, "short", storage)), "short");
  EXPECT_EQ(storage.size(), 14U);
}

TEST(UnitFile, text_replaces_the_old_file_and_leaves_nothing_beside_it) {
  TempDirectory temporary;
  write_text(temporary / "file", "old");
  write_text(temporary / "file", "new");
  EXPECT_EQ(read_text(temporary / "file"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), {}), 1);
}

TEST(HostileFile, a_file_that_cannot_be_replaced_stays_and_nothing_is_left_beside_it) {
  TempDirectory temporary;
  write_text(temporary / "file", "old");
  expect_error([&] { replace_file(temporary / "file", [](OutputFile&) { throw Error("gone"); }); },
               {"gone"});
  EXPECT_EQ(read_text(temporary / "file"), "old");
  fs::create_directory(temporary / "directory");
  expect_error([&] { write_text(temporary / "directory", "text"); }, {"directory", "replace"});
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), {}), 2);
}

TEST(HostileFile, a_missing_file_and_a_directory_are_named_with_the_reason) {
  TempDirectory temporary;
  expect_error([&] { MappedFile{temporary / "none"}; }, {"/none", "No such file"});
  expect_error([&] { MappedFile{temporary.path()}; }, {temporary.path().string(), "directory"});
  Buffer content;
  expect_error([&] { read_file(temporary / "none", content); }, {"/none", "No such file"});
  expect_error([&] { read_text(temporary.path()); }, {"not a regular file"});
}

TEST(HostileFile, a_full_disk_is_reported_in_the_system_s_words) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  OutputFile output("/dev/full");
  output.write("some bytes");
  expect_error([&] { output.close(); }, {"/dev/full", "No space left on device"});
}

}  // namespace
}  // namespace feedrate::formats
