// A zip's entries are those of its directory. The zips are made by libarchive; what other programs do
// to them is done here to their bytes.

#include <gtest/gtest.h>

#include <cstdint>

#include "converters/archive.h"
#include "formats/base/error.h"
#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using namespace feedrate::testing;

const Entries images = {{"cat/1.png", noise(700)}, {"cat/2.png", ""}, {"dog/1.png", noise(90, 3)}};

std::string zip_of(const Entries& entries) {
  return make_archive(entries, {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE});
}

std::vector<std::string> names(const std::string& zip) {
  const TempDirectory directory;
  Archive archive(write(directory / "d.zip", zip));
  std::vector<std::string> found;
  while (archive.next()) found.push_back(archive.name());
  if (!archive.irregular().empty())
    formats::fail(archive.irregular(), "is no file");  // as sources do
  return found;
}

const std::vector<std::string> all = {"cat/1.png", "cat/2.png", "dog/1.png"};

template <class T>
void put(std::string& zip, std::size_t at, T value) {
  zip.replace(at, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
}

TEST(UnitZipDirectory, other_bytes_may_precede_and_follow_it) {
  const std::string zip = zip_of(images);
  EXPECT_EQ(names(zip), all);
  EXPECT_EQ(names(zip + "\n"), all);
  std::string commented = zip;
  put<std::uint16_t>(commented, zip.size() - 2, 6);
  EXPECT_EQ(names(commented + "PK\5\6 !"), all);
}

TEST(UnitZipDirectory, it_may_be_written_with_zip64) {
  std::string zip = zip_of(images);
  const std::size_t end = zip.rfind("PK\5\6"), start = zip.find("PK\1\2");
  std::string end64(56, '\0'), locator(20, '\0');
  end64.replace(0, 4, "PK\6\6");
  put<std::uint64_t>(end64, 4, 44);
  put<std::uint64_t>(end64, 24, images.size());
  put<std::uint64_t>(end64, 32, images.size());
  put<std::uint64_t>(end64, 40, end - start);
  put<std::uint64_t>(end64, 48, start);
  locator.replace(0, 4, "PK\6\7");
  put<std::uint64_t>(locator, 8, end);
  put<std::uint32_t>(locator, 16, 1);
  put<std::uint16_t>(zip, end + 8, 0xffff);
  put<std::uint16_t>(zip, end + 10, 0xffff);
  put<std::uint32_t>(zip, end + 12, 0xffffffff);
  put<std::uint32_t>(zip, end + 16, 0xffffffff);
  zip.insert(end, end64 + locator);
  EXPECT_EQ(names(zip), all);
  put<std::uint64_t>(zip, end + 32, 2);
  expect_error([&] { names(zip); }, {"d.zip", "expected 2 entries", "found 3"});
}

// Otherwise "cat/2.pn" would be passed over as no image.
TEST(HostileZipDirectory, a_damaged_name_is_an_error_that_names_the_entry) {
  std::string zip = zip_of(images);
  const std::size_t at = zip.find("cat/2.png");
  zip[at + 8] = 'n';
  expect_error([&] { names(zip); },
               {"d.zip:cat/2.png", "byte " + std::to_string(at), "expected", "'cat/2.pnn'"});
}

TEST(HostileZipDirectory, a_damaged_directory_is_an_error) {
  const std::string zip = zip_of(images);
  for (std::size_t at = zip.find("PK\1\2"); at < zip.size(); ++at) {
    std::string damaged = zip;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    try {  // times, versions and attributes may change
      EXPECT_EQ(names(damaged), all) << "byte " << at;
    } catch (const formats::Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("d.zip"), std::string_view::npos);
    }
  }
}

TEST(HostileZipDirectory, entries_that_it_lacks_or_has_twice_are_errors) {
  std::string zip = zip_of(images);
  const std::size_t first = zip.find("PK\1\2"), second = zip.find("PK\1\2", first + 1);
  const std::size_t end = zip.rfind("PK\5\6");
  std::string twice = zip;
  put<std::uint32_t>(twice, second + 42, 0);
  expect_error([&] { names(twice); }, {"d.zip"});
  std::string fewer = zip;
  fewer.erase(first, second - first);
  const std::size_t moved = end - (second - first);
  put<std::uint32_t>(fewer, moved + 12, static_cast<std::uint32_t>(moved - first));
  expect_error([&] { names(fewer); }, {"d.zip", "expected 3 entries", "found 2"});
}

}  // namespace
}  // namespace feedrate::converters
