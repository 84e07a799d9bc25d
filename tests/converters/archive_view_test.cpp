// Archives that are mapped: entries as views of the map, without a copy.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "converters/archive.h"
#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr std::uint64_t view_plenty = 1 << 26;
const Entries viewed_entries = {
    {"a/first", noise(3000)}, {"a/second", ""}, {"third", noise(90000, 3)}};

std::string view_content(Archive& archive) {
  Buffer bytes;
  archive.read_all(bytes, view_plenty);
  return std::string(as_text(bytes));
}

TEST(UnitArchiveView, entries_of_a_plain_tar_are_views_that_outlast_the_walk) {
  const TempDirectory directory;
  Archive archive(write(directory / "a.tar", tar(viewed_entries)));
  std::vector<Bytes> views;
  while (archive.next()) {
    const auto view = archive.view();
    ASSERT_TRUE(view);
    views.push_back(*view);
  }
  ASSERT_EQ(views.size(), viewed_entries.size());
  for (std::size_t i = 0; i < viewed_entries.size(); ++i)
    EXPECT_EQ(as_text(views[i]), viewed_entries[i].second);
  // In one map, in the order of the file.
  EXPECT_LT(views[0].data(), views[2].data());
  EXPECT_LT(views[2].data() - views[0].data(), 100000);
}

TEST(UnitArchiveView, entries_of_a_tar_inside_a_tar_last_as_long_as_the_outermost) {
  const TempDirectory directory;
  const std::string deep = tar({{"deep.tar", tar(viewed_entries)}});
  Archive outer(
      write(directory / "outer.tar", tar({{"a.tar", deep}, {"b.tar", tar(viewed_entries)}})));
  std::vector<Bytes> views;
  const auto collect = [&](Archive& archive) {
    while (archive.next()) views.push_back(archive.view().value());
  };
  ASSERT_TRUE(outer.next());
  {
    Archive inner(outer);
    ASSERT_TRUE(inner.next());
    Archive innermost(inner);
    collect(innermost);
  }
  ASSERT_TRUE(outer.next());
  {
    Archive inner(outer);
    collect(inner);
  }
  EXPECT_FALSE(outer.next());
  ASSERT_EQ(views.size(), 6U);
  for (std::size_t i = 0; i < views.size(); ++i)
    EXPECT_EQ(as_text(views[i]), viewed_entries[i % 3].second);
}

TEST(UnitArchiveView, a_file_that_is_no_archive_is_seen_whole) {
  const TempDirectory directory;
  for (const std::size_t size : {1, 100, 511, 512, 70000}) {
    Archive archive(write(directory / "plain", noise(size)));
    ASSERT_TRUE(archive.next());
    EXPECT_EQ(as_text(archive.view().value()), noise(size));
    EXPECT_EQ(view_content(archive), noise(size));
  }
}

TEST(UnitArchiveView, what_is_compressed_has_no_view_and_is_read_all_the_same) {
  const TempDirectory directory;
  const auto file = write(directory / "outer.tar",
                          tar({{"in.tar.gz", tar_gz(viewed_entries)}, {"x", "content of x"}}));
  Archive outer(file);
  ASSERT_TRUE(outer.next());
  {
    Archive inner(outer);
    ASSERT_TRUE(inner.next());
    EXPECT_FALSE(inner.view());
    EXPECT_EQ(view_content(inner), viewed_entries[0].second);
  }
  ASSERT_TRUE(outer.next());
  EXPECT_EQ(as_text(outer.view().value()), "content of x");

  Archive compressed_tar(write(directory / "a.tar.gz", tar_gz(viewed_entries)));
  ASSERT_TRUE(compressed_tar.next());
  EXPECT_FALSE(compressed_tar.view());
  Archive zip(write(directory / "a.zip", make_archive(viewed_entries, {ARCHIVE_FORMAT_ZIP})));
  ASSERT_TRUE(zip.next());
  EXPECT_FALSE(zip.view());
}

// The map of a large entry is passed to decompressors in blocks, since their counts have 32 bits.
TEST(UnitArchiveView, a_compressed_entry_larger_than_a_piece_is_whole) {
  const TempDirectory directory;
  const std::string large = noise(std::size_t{17} << 20);
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD}) {
    Archive outer(write(directory / "outer.tar", tar({{"large", compressed(large, filter)}})));
    ASSERT_TRUE(outer.next());
    ASSERT_GT(outer.size(), 16U << 20);
    Archive inner(outer);
    ASSERT_TRUE(inner.next());
    EXPECT_TRUE(view_content(inner) == large);
  }
}

TEST(UnitArchiveView, viewing_and_reading_go_together) {
  const TempDirectory directory;
  Archive archive(write(directory / "a.tar", tar({{"a", "abcdef"}, {"b", "ghijkl"}})));
  ASSERT_TRUE(archive.next());
  EXPECT_EQ(as_text(archive.view().value()), "abcdef");
  Buffer four(4);
  EXPECT_EQ(archive.read(four), 4U);
  EXPECT_EQ(as_text(archive.view().value()), "abcdef");
  EXPECT_EQ(view_content(archive), "ef");
  ASSERT_TRUE(archive.next());
  EXPECT_EQ(archive.read(four), 4U);
  EXPECT_FALSE(archive.view()) << "part of it is gone";
  EXPECT_EQ(view_content(archive), "kl");
}

TEST(UnitArchiveView, a_pipe_is_read_as_before) {
  const TempDirectory directory;
  const fs::path pipe = directory / "pipe.tar";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe, std::ios::binary) << tar(viewed_entries); });
  Archive archive(pipe);
  for (const auto& [name, bytes] : viewed_entries) {
    ASSERT_TRUE(archive.next());
    EXPECT_EQ(archive.name(), name);
    EXPECT_FALSE(archive.view());
    EXPECT_EQ(view_content(archive), bytes);
  }
  EXPECT_FALSE(archive.next());
}

std::uint64_t mapped_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoull(line.substr(8));
  }
  return 0;
}

constexpr std::uint64_t sparse_entry = 32 << 20;

// A tar with entries of zeros that take no disk space.
fs::path sparse_tar(const fs::path& file, std::uint64_t entries) {
  const std::string whole = tar({{"zeros", std::string(sparse_entry, '\0')}});
  {
    std::ofstream stream(file, std::ios::binary);
    for (std::uint64_t i = 0; i < entries; ++i) {  // headers only: the rest are holes
      stream.seekp(static_cast<std::streamoff>(i * (512 + sparse_entry)));
      stream.write(whole.data(), 512);
    }
  }
  fs::resize_file(file, entries * (512 + sparse_entry) + 1024);
  return file;
}

void touch(Bytes view) {
  for (std::size_t at = 0; at < view.size(); at += 4096) ASSERT_EQ(view[at], std::byte{0});
}

TEST(UnitArchiveView, a_tar_larger_than_memory_should_hold_is_seen_in_bounded_memory) {
  const TempDirectory directory;
  constexpr std::uint64_t entries = 16;
  const fs::path file = sparse_tar(directory / "sparse.tar", entries);
  const std::uint64_t before = mapped_kib();
  Archive archive(file);
  std::uint64_t most = 0;
  std::uint64_t seen = 0;
  for (; archive.next(); ++seen) {
    touch(archive.view().value());
    most = std::max(most, mapped_kib() - before);
  }
  EXPECT_EQ(seen, entries);
  EXPECT_GE(most, sparse_entry >> 10) << "the memory of the map is not what was measured";
  EXPECT_LT(most, std::uint64_t{300} << 10) << "KiB of " << (entries * sparse_entry >> 10);
}

TEST(UnitArchiveView, a_view_given_back_takes_no_memory_and_stays_valid) {
  const TempDirectory directory;
  Archive archive(sparse_tar(directory / "sparse.tar", 1));
  ASSERT_TRUE(archive.next());
  const Bytes view = archive.view().value();
  touch(view);
  const std::uint64_t held = mapped_kib();
  archive.give_back(as_bytes("of something else"));
  EXPECT_GE(mapped_kib() + 1024, held);
  archive.give_back(view);
  EXPECT_LT(mapped_kib() + (sparse_entry >> 10), held + 1024);
  touch(view);
  archive.give_back();
  EXPECT_LT(mapped_kib() + (sparse_entry >> 10), held + 1024);
  touch(view);
}

TEST(HostileArchiveView, cut_inside_an_entry_the_view_is_an_error_that_names_the_byte) {
  const TempDirectory directory;
  const std::string whole = tar(viewed_entries);
  const std::size_t data = whole.find(viewed_entries[2].second);
  for (const std::size_t kept : {1, 511, 512, 89999}) {
    Archive archive(write(directory / "cut.tar", whole.substr(0, data + kept)));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(archive.next());
    expect_error([&] { archive.view(); },
                 {"cut.tar:third", "at byte " + std::to_string(kept) + " of 90000"});
  }
}

TEST(HostileArchiveView, an_entry_that_claims_more_than_the_file_holds_is_an_error) {
  const TempDirectory directory;
  std::string bytes = tar({{"huge", noise(1000)}});
  // GNU's base-256 size: 2^62, with the header's checksum corrected.
  std::string size(12, '\0');
  size[0] = '\x80';
  size[4] = '\x40';
  bytes.replace(124, 12, size);
  bytes.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i)
    sum += static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  bytes.replace(148, 7, std::string(octal, 7));
  Archive archive(write(directory / "huge.tar", bytes));
  ASSERT_TRUE(archive.next());
  ASSERT_EQ(archive.size(), std::uint64_t{1} << 62);
  expect_error([&] { archive.view(); }, {"huge.tar:huge", "of 4611686018427387904"});
}

}  // namespace
}  // namespace feedrate::converters
