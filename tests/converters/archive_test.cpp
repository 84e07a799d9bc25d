#include "converters/archive.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;

constexpr std::uint64_t plenty = 1 << 24;

std::string content(Archive& archive) {
  Buffer bytes;
  archive.read_all(bytes, plenty);
  return std::string(as_text(bytes));
}

Entries walk(Archive& archive) {
  Entries entries;
  while (archive.next()) {
    const std::string name = archive.name();
    entries.emplace_back(name, content(archive));
  }
  return entries;
}

Entries walk(const std::filesystem::path& path) {
  Archive archive(path);
  return walk(archive);
}

// A tar with one file, of which only the front is stored.
std::string sparse_tar(std::string_view front, std::int64_t size) {
  std::string bytes;
  archive* writer = archive_write_new();
  archive_write_set_format(writer, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED);
  const auto append = [](archive*, void* to, const void* block, std::size_t count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(block), count);
    return static_cast<la_ssize_t>(count);
  };
  EXPECT_EQ(archive_write_open(writer, &bytes, nullptr, append, nullptr), ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "sparse");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, size);
  archive_entry_sparse_add_entry(entry, 0, static_cast<la_int64_t>(front.size()));
  EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
  archive_write_data(writer, front.data(), front.size());
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

const Entries three = {{"a/first", noise(3000)}, {"a/second", ""}, {"third", noise(90000, 3)}};

class UnitArchive : public ::testing::TestWithParam<Packing> {};

TEST_P(UnitArchive, gives_every_entry_whole_and_in_order) {
  const TempDirectory directory;
  const auto file = write(directory / "a.tar", make_archive(three, GetParam()));
  EXPECT_EQ(walk(file), three);
  EXPECT_FALSE(Archive(file).single());
}

TEST_P(UnitArchive, an_archive_inside_is_read_as_a_stream) {
  const TempDirectory directory;
  const auto file = write(directory / "outer.tar",
                          tar({{"before", "x"}, {"in.tar", make_archive(three, GetParam())}}));
  Archive outer(file);
  ASSERT_TRUE(outer.next());
  ASSERT_TRUE(outer.next());
  {
    Archive inner(outer);
    ASSERT_TRUE(inner.next());
    EXPECT_EQ(inner.place(), file.string() + ":in.tar:a/first");
    EXPECT_EQ(content(inner), three[0].second);
    ASSERT_TRUE(inner.next());
    ASSERT_TRUE(inner.next());
    EXPECT_EQ(content(inner), three[2].second);
    EXPECT_FALSE(inner.next());
  }
  EXPECT_FALSE(outer.next());
}

TEST_P(UnitArchive, entries_not_read_are_passed_over) {
  const TempDirectory directory;
  Archive archive(write(directory / "a.tar", make_archive(three, GetParam())));
  int count = 0;
  while (archive.next()) ++count;
  EXPECT_EQ(count, 3);
}

// The most important test: wherever it is cut, a truncated archive must never look complete.
TEST_P(UnitArchive, cut_anywhere_it_is_an_error_that_names_the_file) {
  const TempDirectory directory;
  const std::string whole = make_archive(three, GetParam());
  // An uncompressed archive may lose what follows its last entry and the first end marker: the
  // second block of zeros of a tar.
  std::size_t needed = whole.size();
  if (GetParam().filter == ARCHIVE_FILTER_NONE && GetParam().format != ARCHIVE_FORMAT_ZIP) {
    needed -= 512;
  }
  for (std::size_t size = 0; size < needed; size += 997) {
    // At block boundaries, a truncated tar looks most like a complete one.
    for (const std::size_t cut : {size, std::min(size / 512 * 512, needed - 1), needed - 1}) {
      const auto file = write(directory / "cut.tar", whole.substr(0, cut));
      try {
        const Entries entries = walk(file);
        // A few bytes are not an archive any more, just a file.
        EXPECT_TRUE(entries.size() == 1 && entries[0].second == whole.substr(0, cut))
            << "cut at " << cut << " of " << whole.size();
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("cut.tar"), std::string_view::npos);
      }
    }
  }
}

std::string packing_name(const ::testing::TestParamInfo<Packing>& info) {
  const std::string format = info.param.format == ARCHIVE_FORMAT_ZIP ? "zip" : "tar";
  switch (info.param.filter) {
    case ARCHIVE_FILTER_GZIP:
      return format + "_gz";
    case ARCHIVE_FILTER_BZIP2:
      return format + "_bz2";
    case ARCHIVE_FILTER_XZ:
      return format + "_xz";
    case ARCHIVE_FILTER_ZSTD:
      return format + "_zst";
    default:
      return format;
  }
}

INSTANTIATE_TEST_SUITE_P(, UnitArchive,
                         ::testing::Values(Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE},
                                           Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP},
                                           Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2},
                                           Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ},
                                           Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD},
                                           Packing{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE}),
                         packing_name);

TEST(UnitArchiveFile, a_bare_compressed_file_is_one_entry_without_its_suffix) {
  const TempDirectory directory;
  const auto file = write(directory / "labels.gz", compressed(noise(300000)));
  EXPECT_EQ(walk(file), (Entries{{"labels", noise(300000)}}));
  Archive archive(file);
  EXPECT_TRUE(archive.single());
  EXPECT_TRUE(archive.next());
  EXPECT_EQ(archive.place(), file.string());
  EXPECT_EQ(archive.size(), 0U);
}

TEST(UnitArchiveFile, a_plain_file_is_one_entry_of_its_own_name_and_size) {
  const TempDirectory directory;
  Archive archive(write(directory / "plain", noise(1000)));
  ASSERT_TRUE(archive.next());
  EXPECT_EQ(archive.name(), "plain");
  EXPECT_EQ(archive.size(), 1000U);
  EXPECT_EQ(content(archive), noise(1000));
}

TEST(UnitArchiveFile, gzip_members_one_after_the_other_are_one_content) {
  const TempDirectory directory;
  const auto file = write(directory / "two.gz", compressed("one ") + compressed("two"));
  EXPECT_EQ(walk(file), (Entries{{"two", "one two"}}));
}

TEST(UnitArchiveFile, names_that_the_locale_cannot_show_are_kept) {
  const TempDirectory directory;
  const Entries entries = {{"K\xc3\xa4se.png", "x"}, {"Ka\xcc\x88se.png", "y"}};
  const auto file = write(directory / "utf8.tar", tar(entries));
  EXPECT_EQ(walk(file), entries);
}

// As Python and most other tools write them; libarchive sets the mark in a UTF-8 locale alone.
TEST(UnitArchiveFile, names_that_a_zip_marks_as_utf8_are_kept) {
  const TempDirectory directory;
  const std::string composed = "\xc3\xa9", decomposed = "e\xcc\x81";
  Entries entries = {{"ant/1.png", "x"},
                     {composed + "clair/1.png", "y"},
                     {"\xe6\x97\xa5\xe6\x9c\xac/1.png", std::string(600, 'b')},
                     {decomposed + "toile/1.png", "z"}};
  std::string zip = make_archive(entries, {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE});
  constexpr char is_utf8 = 0x08;  // bit 11 of the flags
  constexpr std::pair<std::string_view, std::size_t> heads[] = {{"PK\3\4", 7}, {"PK\1\2", 9}};
  for (const auto& [head, flags] : heads) {
    for (std::size_t at = zip.find(head); at != std::string::npos; at = zip.find(head, at + 1)) {
      zip[at + flags] = static_cast<char>(zip[at + flags] | is_utf8);
    }
  }
  entries.back().first = composed + "toile/1.png";
  EXPECT_EQ(walk(write(directory / "utf8.zip", zip)), entries);
}

TEST(HostileArchive, a_gzip_cut_anywhere_is_an_error_that_names_the_byte) {
  const TempDirectory directory;
  const std::string whole = compressed(noise(5000));
  for (std::size_t cut = 2; cut < whole.size(); cut += 1 + cut / 40) {
    const auto file = write(directory / "cut.gz", whole.substr(0, cut));
    expect_error([&] { walk(file); }, {"cut.gz", "cut off after", std::to_string(cut)});
  }
}

TEST(HostileArchive, a_wrong_gzip_checksum_is_an_error) {
  const TempDirectory directory;
  std::string bytes = compressed(noise(5000));
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  const auto file = write(directory / "bad.gz", bytes);
  expect_error([&] { walk(file); }, {"bad.gz", "damaged", "wrong checksum or length"});
}

TEST(HostileArchive, a_wrong_checksum_behind_the_tar_is_an_error) {
  const TempDirectory directory;
  std::string bytes = tar_gz(three);
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  const auto file = write(directory / "bad.tar.gz", bytes);
  expect_error([&] { walk(file); }, {"bad.tar.gz", "wrong checksum or length"});
}

TEST(HostileArchive, something_behind_the_gzip_data_is_an_error) {
  const TempDirectory directory;
  const auto file = write(directory / "more.gz", compressed("content") + "garbage");
  expect_error([&] { walk(file); }, {"more.gz", "goes on with something else"});
}

TEST(HostileArchive, a_damaged_entry_is_named_with_its_byte) {
  const TempDirectory directory;
  const auto file = write(directory / "cut.tar.gz", tar_gz(three).substr(0, 50000));
  expect_error([&] { walk(file); }, {"cut.tar.gz", "50000", "third", "byte"});
}

TEST(HostileArchive, an_archive_cut_before_it_was_packed_into_another_is_an_error) {
  const TempDirectory directory;
  const std::string inner = tar(three);
  const std::size_t between_entries = 512 + 3072;  // after the first entry and its padding
  const auto file =
      write(directory / "outer.tar", tar({{"n01440764.tar", inner.substr(0, between_entries)}}));
  Archive outer(file);
  ASSERT_TRUE(outer.next());
  Archive archive(outer);
  expect_error([&] { walk(archive); },
               {"outer.tar:n01440764.tar", "without an end marker", "a/first"});
}

TEST(HostileArchive, an_html_page_in_place_of_the_file_is_called_one) {
  const TempDirectory directory;
  for (const char* page : {"<!DOCTYPE HTML PUBLIC", "\n <html lang=en>", "<!doctype html>"}) {
    const auto file = write(directory / "train.gz", page);
    expect_error([&] { Archive archive(file); },
                 {"train.gz", "looks like an HTML page; was the download redirected?"});
  }
}

TEST(HostileArchive, an_empty_file_is_called_empty) {
  const TempDirectory directory;
  const auto file = write(directory / "empty.gz", "");
  expect_error([&] { Archive archive(file); }, {"empty.gz", "is empty"});
  write(file, compressed(""));
  expect_error([&] { Archive archive(file); }, {"empty.gz", "is empty once decompressed"});
}

TEST(HostileArchive, a_directory_or_a_missing_file_is_said_to_be_so) {
  const TempDirectory directory;
  expect_error([&] { Archive archive(directory.path()); }, {"is a directory"});
  expect_error([&] { Archive archive(directory / "none"); }, {"none", "No such file"});
}

// Root may read every file, so root acts as another user for a while.
class AsNobody {
 public:
  AsNobody() : was_(::geteuid()) { EXPECT_TRUE(was_ != 0 || ::seteuid(65534) == 0); }
  ~AsNobody() { EXPECT_EQ(::seteuid(was_), 0); }

 private:
  uid_t was_;
};

TEST(HostileArchive, a_file_without_permission_says_so) {
  const TempDirectory directory;
  const auto file = write(directory / "secret.tar", tar(three));
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const AsNobody nobody;
  expect_error([&] { Archive archive(file); }, {"secret.tar", "Permission denied"});
}

TEST(HostileArchive, an_entry_longer_than_the_limit_is_refused) {
  const TempDirectory directory;
  Archive archive(write(directory / "bomb.gz", compressed(std::string(10 << 20, 'x'))));
  ASSERT_TRUE(archive.next());
  Buffer bytes;
  expect_error([&] { archive.read_all(bytes, 1 << 20); }, {"bomb.gz", "more than the 1048576"});
}

TEST(HostileArchive, a_file_that_is_shorter_than_it_says_is_refused) {
  const TempDirectory directory;
  const std::string packed = sparse_tar(noise(1024), 1 << 20);
  Archive archive(write(directory / "sparse.tar", packed));
  ASSERT_TRUE(archive.next());
  expect_error([&] { content(archive); },
               {"sparse.tar:sparse", "expected 1048576 bytes, found 1024"});
}

}  // namespace
}  // namespace feedrate::converters
