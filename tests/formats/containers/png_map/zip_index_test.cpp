#include "formats/containers/png_map/zip_index.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_zip.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::make_zip;
using testing::TempDirectory;
using testing::ZipEntry;
using testing::ZipForm;

class UnitZip : public ::testing::Test {
 protected:
  void put(Bytes zip) {
    std::filesystem::remove(file_);
    OutputFile file(file_);
    file.write(zip);
    file.close();
  }
  std::string read(std::string_view name) {
    const ZipIndex index(file_);
    return std::string(as_text(index.read(name, storage_)));
  }
  std::string read_of(Bytes zip, std::string_view name = "a") {
    put(zip);
    return read(name);
  }
  // The central directory's record of the only entry.
  static std::size_t central(const Buffer& zip) { return as_text(zip).find("PK\x01\x02"); }
  template <class T>
  static void set(Buffer& zip, std::size_t at, T value) {
    std::memcpy(zip.data() + at, &value, sizeof(value));
  }

  TempDirectory temporary_;
  std::filesystem::path file_ = temporary_ / "x.zip";
  Buffer storage_;
  std::string long_ = std::string(3000, 'x') + "end";
};

TEST_F(UnitZip, stored_and_deflated_entries_come_back) {
  for (const ZipForm form : {ZipForm::plain, ZipForm::zip64}) {
    put(make_zip({{"a", "stored"}, {"dir/b", long_, 8}, {"c", "", 8}, {"d", ""}}, form,
                 "a comment"));
    EXPECT_EQ(ZipIndex(file_).size(), 4U);
    EXPECT_EQ(read("a"), "stored");
    EXPECT_EQ(read("dir/b"), long_);
    EXPECT_EQ(read("c"), "");
    EXPECT_EQ(read("d"), "");
  }
}

TEST_F(UnitZip, an_end_record_in_the_comment_is_not_taken_for_the_real_one) {
  const Buffer inner = make_zip({});
  EXPECT_EQ(read_of(make_zip({{"a", "x"}}, ZipForm::plain, std::string(as_text(inner)) + "!")),
            "x");
}

TEST_F(UnitZip, what_cannot_be_read_is_refused_by_its_name) {
  expect_error([&] { read_of(make_zip({{"a", "x"}}), "b"); }, {"no such entry"});
  expect_error([&] { read_of(make_zip({{"a", "x", 0, 1}})); }, {"encrypted"});
  expect_error([&] { read_of(make_zip({{"a", "x", 12}})); }, {"bzip2 (12)"});
  expect_error([&] { read_of(make_zip({{"a", "x", 93}})); }, {"zstd (93)"});
  expect_error([&] { read_of(make_zip({{"a", "x", 77}})); }, {"an unknown method (77)"});
  expect_error(
      [&] {
        put(make_zip({{"a", "x"}, {"a", "y"}})), ZipIndex(file_);
      },
      {"two entries called a"});
  expect_error([&] { read_of(as_bytes("not a zip at all, whatever its name says")); },
               {"x.zip", "no zip archive"});
  expect_error([&] { read_of({}); }, {"x.zip", "no zip archive"});
}

TEST_F(UnitZip, volumes_are_refused) {
  Buffer zip = make_zip({{"a", "x"}});
  set<std::uint16_t>(zip, zip.size() - 22 + 4, 1);
  expect_error([&] { read_of(zip); }, {"several volumes"});
}

class HostileZip : public UnitZip {};

TEST_F(HostileZip, sizes_that_cannot_be_are_refused_before_memory_is_asked_for) {
  const Buffer sound = make_zip({{"a", long_, 8}});
  const std::size_t record = central(sound);
  Buffer zip = sound;
  set<std::uint32_t>(zip, record + 24, 0xfffffffe);  // of the content
  expect_error([&] { read_of(zip); }, {"cannot hold the 4294967294"});
  EXPECT_LT(storage_.size(), std::size_t{1} << 20);
  zip = sound;
  set<std::uint32_t>(zip, record + 24, 3002);
  expect_error([&] { read_of(zip); }, {"deflate data is damaged"});
  set<std::uint32_t>(zip, record + 24, 3004);
  expect_error([&] { read_of(zip); }, {"deflate data is damaged"});
  zip = sound;
  set<std::uint32_t>(zip, record + 20, 0xfffffffe);  // in the file
  expect_error([&] { read_of(zip); }, {"go beyond the end"});
  zip = sound;
  set<std::uint32_t>(zip, record + 42, 0xfffffffe);  // of the local header
  expect_error([&] { read_of(zip); }, {"no entry starts at byte 4294967294"});
  set<std::uint32_t>(zip, record + 42, 1);
  expect_error([&] { read_of(zip); }, {"no entry starts at byte 1"});
  zip = make_zip({{"a", "stored"}});
  set<std::uint32_t>(zip, central(zip) + 24, 7);
  expect_error([&] { read_of(zip); }, {"two sizes, 6 and 7"});
}

TEST_F(HostileZip, a_directory_that_is_not_there_is_named) {
  const Buffer sound = make_zip({{"a", "x"}});
  const std::size_t end = sound.size() - 22;
  for (const std::size_t field : {end + 12, end + 16}) {
    Buffer zip = sound;
    set<std::uint32_t>(zip, field, 0xfffffff0);
    expect_error([&] { read_of(zip); }, {"x.zip", "directory", "beyond the end"});
  }
  Buffer zip = sound;
  set<std::uint16_t>(zip, end + 8, 9);
  set<std::uint16_t>(zip, end + 10, 9);
  expect_error([&] { read_of(zip); }, {"expected entry 1 of the directory's 9"});
  zip = sound;
  set<std::uint16_t>(zip, central(zip) + 28, 0xffff);
  expect_error([&] { read_of(zip); }, {"entry 0 is longer than the directory"});
  zip = make_zip({{"a", "x"}}, ZipForm::zip64);
  const std::size_t locator = zip.size() - 22 - 20;
  for (const std::uint64_t at : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{locator}}) {
    set(zip, locator + 8, at);
    expect_error([&] { read_of(zip); }, {"no zip64 end record"});
  }
}

TEST_F(HostileZip, another_name_or_crc_than_the_directory_s_is_noticed) {
  Buffer zip = make_zip({{"a", "x"}});
  zip[30] = std::byte{'b'};
  expect_error([&] { read_of(zip); }, {"another name"});
  zip = make_zip({{"a", "x"}});
  zip[35] = std::byte{'y'};
  expect_error([&] { read_of(zip); }, {"CRC is "});
}

TEST_F(HostileZip, cut_anywhere_or_with_any_byte_changed_nothing_wrong_is_read) {
  std::mt19937 random(3);
  for (const ZipForm form : {ZipForm::plain, ZipForm::zip64}) {
    const Buffer sound = make_zip({{"a", long_, 8}, {"b", "stored"}}, form);
    for (std::size_t at = 0; at < sound.size(); ++at) {
      Buffer damaged(sound.begin(), sound.begin() + static_cast<long>(at));
      expect_error([&] { read_of(damaged); }, {"x.zip", "cut short"});
      damaged = sound;
      damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
      try {
        EXPECT_EQ(read_of(damaged), long_) << at;
        EXPECT_EQ(read("b"), "stored") << at;
      } catch (const Error&) {  // noticed
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
