#include "formats/io/replace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <future>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

TEST(UnitReplace, a_link_stays_a_link_and_its_file_is_replaced) {
  const TempDirectory directory;
  write_text(directory / "file", "old");
  fs::create_symlink("file", directory / "link");
  write_text(directory / "link", "new");
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(read_text(directory / "file"), "new");
}

TEST(HostileReplace, a_pipe_or_device_is_written_into_and_not_replaced) {
  const TempDirectory directory;
  const fs::path pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Descriptor reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_text(pipe, "text");
  std::array<char, 8> got{};
  EXPECT_EQ(read(reader.number(), got.data(), got.size()), 4);
  EXPECT_TRUE(is_device(pipe));
}

TEST(HostileReplace, a_place_where_no_file_can_be_is_named_before_the_work) {
  const TempDirectory directory;
  EXPECT_EQ(replaceable(directory / "new"), directory / "new");
  expect_error([&] { replaceable(directory / "no/where"); }, {"no/where", "cannot create"});
  expect_error([&] { replaceable(directory.path()); }, {"is a directory"});
}

TEST(HostileReplace, several_that_write_one_file_leave_the_whole_of_one) {
  const TempDirectory directory;
  constexpr std::size_t bytes = std::size_t{3} << 20;  // more than is written at once
  const auto write_often = [&](char letter) {
    for (int i = 0; i < 5; ++i) write_text(directory / "file", std::string(bytes, letter));
  };
  auto other = std::async(std::launch::async, write_often, 'b');
  EXPECT_NO_THROW(write_often('a'));
  EXPECT_NO_THROW(other.get());
  const std::string text = read_text(directory / "file");
  EXPECT_EQ(text, std::string(bytes, text.front()));
  EXPECT_FALSE(std::filesystem::exists(directory / "file.new"));
}

}  // namespace
}  // namespace feedrate::formats
