#include "formats/base/lost_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "formats/base/sweep.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using namespace testing;

constexpr std::size_t size = std::size_t{64} << 10;

fs::path file_of_x(const TempDirectory& directory) {
  fs::path path = directory / "data.rec";
  write_text(path, std::string(size, 'x'));
  return path;
}

TEST(HostileLostPages, a_byte_that_has_gone_is_zero_and_the_reader_is_told) {
  const TempDirectory directory;
  const MappedFile file(file_of_x(directory));
  fs::resize_file(file.path(), 4096);
  EXPECT_EQ(lost_pages_of_thread(), "");
  EXPECT_EQ(file.bytes()[0], std::byte{'x'});
  EXPECT_EQ(lost_pages_of_thread(), "") << "the first page is still there";
  EXPECT_EQ(file.bytes()[size - 1], std::byte{0});
  EXPECT_EQ(lost_pages_of_thread(),
            file.path().string() +
                ": became shorter while it was being read: it had 65536 bytes and has 4096");
  EXPECT_EQ(lost_pages_of_thread(), "") << "told once";
  EXPECT_NE(lost_pages_of_process().find("data.rec"), std::string::npos) << "for ever";
}

TEST(HostileLostPages, what_was_lost_before_says_nothing_of_what_is_read_since) {
  const TempDirectory directory;
  const MappedFile file(file_of_x(directory));
  fs::resize_file(file.path(), 0);
  const std::uint64_t before = lost_pages_so_far();
  EXPECT_EQ(file.bytes()[0], std::byte{0});
  EXPECT_NE(lost_pages_of_thread(), "");
  EXPECT_NE(lost_pages_of_process(before).find("data.rec"), std::string::npos);
  EXPECT_NE(lost_pages_of_process(), "");
  EXPECT_EQ(lost_pages_of_process(lost_pages_so_far()), "");
}

TEST(HostileLostPages, only_the_thread_that_read_it_is_told) {
  const TempDirectory directory;
  const MappedFile file(file_of_x(directory));
  fs::resize_file(file.path(), 0);
  std::string told;
  std::jthread([&] {
    EXPECT_EQ(file.bytes()[0], std::byte{0});
    told = lost_pages_of_thread();
  }).join();
  EXPECT_NE(told, "");
  EXPECT_EQ(lost_pages_of_thread(), "");
}

TEST(HostileLostPages, a_map_that_moved_is_guarded_and_one_that_went_leaves_its_name) {
  const TempDirectory directory;
  MappedFile file(file_of_x(directory));
  MappedFile other;
  other = std::move(file);
  fs::resize_file(other.path(), 0);
  EXPECT_EQ(other.bytes()[0], std::byte{0});
  other = MappedFile();
  write_text(directory / "another", "text");
  const MappedFile third(directory / "another");
  EXPECT_NE(lost_pages_of_thread().find("data.rec"), std::string::npos);
}

TEST(HostileLostPages, a_sweep_over_what_has_gone_is_an_error) {
  const TempDirectory directory;
  const MappedFile file(file_of_x(directory));
  fs::resize_file(file.path(), 0);
  const SweepWork look = [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) EXPECT_EQ(file.bytes()[i], std::byte{0});
  };
  expect_error([&] { sweep(size, 2, look, {}); }, {"data.rec", "became shorter"});
}

TEST(HostileLostPages, memory_that_nobody_guards_ends_the_process_as_ever) {
  const TempDirectory directory;
  const fs::path path = file_of_x(directory);
  const auto read_unguarded = [&] {
    const MappedFile guarded(path);  // installs the handler
    std::FILE* file = std::fopen(path.c_str(), "rb");
    void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fileno(file), 0);
    fs::resize_file(path, 0);
    std::fprintf(stderr, "read %d", *static_cast<volatile char*>(map));
  };
  EXPECT_DEATH(read_unguarded(), "");
}

TEST(HostileLostPages, a_file_written_to_is_told_from_one_put_in_its_place) {
  const TempDirectory directory;
  const fs::path path = file_of_x(directory);
  const MappedFile file(path);
  file.expect_unchanged();
  write_text(path, "another file of that name");  // by rename
  file.expect_unchanged();
  EXPECT_EQ(as_text(file.bytes()), std::string(size, 'x'));

  const MappedFile second(path);
  std::ofstream(path, std::ios::in | std::ios::out) << "ANOTHER";
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  expect_error([&] { second.expect_unchanged(); }, {"data.rec", "was written to while"});
  fs::resize_file(path, 3);
  expect_error([&] { second.expect_unchanged(); }, {"it had 25 bytes and has 3"});
  fs::remove(path);
  second.expect_unchanged();
}

}  // namespace
}  // namespace feedrate::formats
