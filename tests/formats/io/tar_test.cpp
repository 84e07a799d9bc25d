// The tar writer and the walk over tars, against each other and against bytes made by hand.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/containers/webdataset/tar_index.h"
#include "formats/digests/digest.h"
#include "formats/io/byte_stream.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_format.h"
#include "formats/io/tar_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;
using namespace std::string_view_literals;

struct Memory {
  Buffer bytes;
  void write(Bytes more) { append(bytes, more); }
};

struct Member {
  std::string name;
  std::string content;
  bool operator==(const Member&) const = default;
};

Buffer tar_of(const std::vector<Member>& members) {
  Memory memory;
  TarWriter writer(memory);
  for (const auto& [name, content] : members) writer.add(name, as_bytes(content));
  writer.finish();
  return memory.bytes;
}

std::vector<Member> members_of(Bytes tar) {
  std::vector<Member> members;
  TarWalk walk(tar);
  for (TarEntry entry; walk.next(entry);) {
    members.push_back({entry.name, std::string(as_text(tar.subspan(entry.offset, entry.size)))});
  }
  return members;
}

constexpr std::string_view posix = "ustar\00000"sv;
constexpr std::string_view gnu = "ustar  \0"sv;

void put(Buffer& block, TarField field, std::string_view text) {
  std::memcpy(block.data() + field.offset, text.data(), text.size());
}

std::string octal(std::uint64_t value, int digits) { return fmt::format("{:0{}o}", value, digits); }

// A handmade header; `size` is the field's own text.
Buffer header(std::string_view name, std::string_view size, char type,
              std::string_view magic = posix) {
  Buffer block(tar_block);
  put(block, tar_field::name, name);
  put(block, tar_field::size, size);
  put(block, tar_field::type, {&type, 1});
  put(block, tar_field::magic, magic);
  return block;
}

Buffer summed(Buffer block) {
  put(block, tar_field::checksum, octal(tar_checksum(block.data()), 6) + '\0' + ' ');
  return block;
}

Buffer member(std::string_view name, std::string_view content, char type = '0',
              std::string_view magic = posix) {
  Buffer bytes = summed(header(name, octal(content.size(), 11), type, magic));
  append(bytes, as_bytes(content));
  bytes.resize(tar_padded(bytes.size()));
  return bytes;
}

std::string pax(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return fmt::format("{} {}={}\n", length, key, value);
}

// Concatenates the parts and appends the end marker.
Buffer tar(std::initializer_list<Buffer> parts) {
  Buffer all;
  for (const Buffer& part : parts) append(all, part);
  all.resize(all.size() + 2 * tar_block);
  return all;
}

TEST(UnitTar, what_is_written_is_what_is_read) {
  const std::vector<Member> members = {{"a.cls", "7"},
                                       {"dir.with.dots/b.jpg", std::string(511, 'x')},
                                       {"empty", ""},
                                       {"block", std::string(512, 'y')},
                                       {"past a block", std::string(513, 'z')}};
  const Buffer tar = tar_of(members);
  EXPECT_EQ(tar.size() % tar_record, 0U);
  EXPECT_EQ(members_of(tar), members);
}

TEST(UnitTar, names_of_every_length_come_back) {
  std::vector<Member> members;
  for (std::size_t length = 1; length < 600; ++length) {
    std::string name;  // with slashes at different places for every length
    while (name.size() < length) name += (name.size() % 61) == length % 61 ? '/' : 'n';
    if (name.front() == '/') name.front() = 'n';
    if (name.back() == '/') name.back() = 'n';
    members.push_back({name, std::to_string(length)});
    members.push_back({std::string(length, 'u'), "no slash at all"});
  }
  EXPECT_EQ(members_of(tar_of(members)), members);
}

TEST(UnitTar, short_names_need_no_extended_header) {
  const Buffer tar = tar_of({{std::string(155, 'd') + "/" + std::string(100, 'f'), ""}});
  EXPECT_EQ(as_text(tar).substr(tar_field::type.offset, 1), "0");
  EXPECT_EQ(members_of(tar).front().name.size(), 256U);
}

TEST(UnitTar, the_bytes_are_the_same_on_every_machine_and_day) {
  const auto digest = hex(sha256(tar_of({{"00000000.cls", "3"}, {"00000000.png", "image"}})));
  EXPECT_EQ(digest, "9e61ca450dad47f9a6f2889357e5033516634ae55b88b54cb1f4546209d63c78");
}

TEST(UnitTar, content_may_come_in_pieces_and_to_any_sink) {
  TempDirectory temporary;
  {
    OutputFile file(temporary / "plain.tar");
    TarWriter plain(file);
    plain.begin("x", 700);
    plain.write(Buffer(300, std::byte{1}));
    plain.write(Buffer(400, std::byte{1}));
    EXPECT_EQ(plain.position(), 512U + 1024U);
    plain.finish();
    file.close();
    GzipFile gzip(temporary / "packed.tar.gz");
    TarWriter packed(gzip);
    packed.add("x", Buffer(700, std::byte{1}));
    packed.finish();
    gzip.close();
  }
  auto unpacked = decompress(open_file_stream(temporary / "packed.tar.gz"), "packed").stream;
  Buffer content;
  for (Bytes block = unpacked->next(); !block.empty(); block = unpacked->next()) {
    append(content, block);
  }
  EXPECT_EQ(as_text(content), read_text(temporary / "plain.tar"));
}

TEST(UnitTar, names_that_no_tar_can_hold_are_refused) {
  expect_error([] { tar_of({{"", "x"}}); }, {"cannot hold the name"});
  expect_error([] { tar_of({{std::string("a\0b", 3), "x"}}); }, {"cannot hold the name"});
}

TEST(UnitTar, a_file_beyond_eight_gigabytes_states_its_size_in_pax) {
  Memory memory;
  TarWriter writer(memory);
  writer.begin("huge", (std::uint64_t{1} << 33) + 5);
  EXPECT_NE(as_text(memory.bytes).find("19 size=8589934597\n"), std::string_view::npos);
  expect_error([&] { members_of(memory.bytes); },
               {"byte 0", "'huge' has 8589934597 bytes", "only 0"});
}

TEST(UnitTarWalk, long_names_of_gnu_and_pax_are_resolved) {
  const std::string name(150, 'n');
  const Buffer bytes =
      tar({member("././@LongLink", name + '\0', 'L', gnu), member("short", "by gnu", '0', gnu),
           member("././@LongLink", "a link's target", 'K', gnu),
           member("././@PaxHeader", pax("mtime", "1.25") + pax("path", name), 'x'),
           member("short", "by pax"), member("././@PaxHeader", pax("path", "y"), 'X'),
           member("short", "by Sun's pax")});
  EXPECT_EQ(members_of(bytes),
            (std::vector<Member>{{name, "by gnu"}, {name, "by pax"}, {"y", "by Sun's pax"}}));
}

TEST(UnitTarWalk, a_member_starts_with_its_first_header) {
  const Buffer bytes = tar(
      {member("a", "1"), member("././@PaxHeader", pax("mtime", "1.25"), 'x'), member("b", "2")});
  TarWalk walk(bytes);
  TarEntry entry;
  ASSERT_TRUE(walk.next(entry));
  EXPECT_EQ(walk.position(), 1024U);
  ASSERT_TRUE(walk.next(entry));
  EXPECT_EQ(entry.header, 1024U);
  EXPECT_EQ(entry.offset, 1024U + 1024U + 512U);
  ASSERT_FALSE(walk.next(entry));
  EXPECT_EQ(walk.position(), bytes.size());
  TarWalk from_b(bytes, 1024);
  ASSERT_TRUE(from_b.next(entry));
  EXPECT_EQ(entry.name, "b");
}

TEST(UnitTarWalk, a_prefix_is_a_prefix_only_in_posix_headers) {
  Buffer with_prefix = header("name", "0", '0', posix);
  put(with_prefix, tar_field::prefix, "dir");
  Buffer with_times = header("name", "0", '0', gnu);
  put(with_times, tar_field::prefix, "13662034312");
  const auto members = members_of(tar({summed(with_prefix), summed(with_times)}));
  EXPECT_EQ(members, (std::vector<Member>{{"dir/name", ""}, {"name", ""}}));
}

TEST(UnitTarWalk, old_headers_and_other_kinds_of_members_are_told_apart) {
  const Buffer bytes = tar(
      {member("file", "x", '\0', ""), member("dir/", "", '\0', ""), member("contiguous", "y", '7'),
       summed(header("link", "00000007777", '1')), summed(header("device", " 17 ", '3')),
       member("git", pax("comment", "c"), 'g'), member("last", "z")});
  TarWalk walk(bytes);
  std::string types;
  std::string content;
  for (TarEntry entry; walk.next(entry);) {
    types += entry.type;
    content += as_text(Bytes(bytes).subspan(entry.offset, entry.size));
  }
  EXPECT_EQ(types, "050130");
  EXPECT_EQ(content, "xyz");
}

TEST(UnitTarWalk, a_checksum_of_signed_bytes_is_accepted) {
  Buffer block = header("caf\xc3\xa9", "0", '0');
  put(block, tar_field::checksum, octal(tar_checksum(block.data()) - 2 * 256, 6));
  EXPECT_EQ(members_of(tar({block})).size(), 1U);
}

TEST(UnitTarWalk, a_size_may_be_base_256) {
  Buffer bytes = summed(header("x", "\x80\0\0\0\0\0\0\0\0\0\0\x03"sv, '0'));
  append(bytes, as_bytes("abc"));
  bytes.resize(1024);
  EXPECT_EQ(members_of(tar({bytes})), (std::vector<Member>{{"x", "abc"}}));
}

TEST(UnitTarWalk, a_lone_block_of_zeros_is_an_end_only_where_the_file_ends) {
  Buffer bytes = tar({member("x", "1")});
  bytes.resize(bytes.size() - tar_block);
  EXPECT_EQ(members_of(bytes).size(), 1U);
  append(bytes, member("y", "2"));
  expect_error([&] { members_of(bytes); }, {"byte 1024", "no end marker"});
}

TEST(HostileTarWalk, sizes_beyond_the_end_are_refused_before_they_are_used) {
  for (const std::string_view size :
       {"00000000004"sv, "77777777777"sv, "777777777777"sv, "\x80\0\0\0\0\0\0\0\0\0\xff\xff"sv,
        "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"sv}) {
    Buffer bytes = summed(header("x", size, '0'));
    append(bytes, as_bytes("abc"));
    expect_error([&] { members_of(bytes); }, {"byte 0", "'x' has ", " but only 3 follow"});
  }
  for (const std::string_view size :
       {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv, "\x80\0\0\1\0\0\0\0\0\0\0\0"sv,
        "00000000008"sv, "-0000000001"sv, "1x"sv}) {
    expect_error([&] { members_of(tar({summed(header("x", size, '0'))})); },
                 {"byte 0", "size", "not a number"});
  }
}

TEST(HostileTarWalk, extended_headers_are_believed_no_more_than_members) {
  const auto refused = [](const Buffer& bytes, std::initializer_list<std::string_view> parts) {
    expect_error([&] { members_of(bytes); }, parts);
  };
  refused(tar({summed(header("x", "77777777777", 'x'))}),
          {"byte 0", "extended header of 8589934591"});
  refused(summed(header("x", "00000000100", 'L')), {"byte 0", "64 bytes", "only 0 follow"});
  refused(tar({member("h", pax("path", "x"), 'x')}), {"byte 1024", "ends inside a member"});
  refused(tar({member("h", pax("size", "1e3"), 'x'), member("x", "")}), {"not a number: 1e3"});
  refused(tar({member("h", pax("size", "99999"), 'x'), member("x", "")}), {"'x' has 99999 bytes"});
  refused(tar({member("h", pax("path", std::string("a\0b", 3)), 'x'), member("x", "")}),
          {"zero byte"});
  refused(tar({member("h", "", 'L'), member("x", "")}), {"byte 0", "empty"});
  refused(tar({member("h", pax("path", "same"), 'g'), member("x", "")}),
          {"every member the same path"});
  for (const std::string_view record :
       {"8 path=x\n", "11 path=x\n", "9 path=x ", "path=x\n", "9999999999999999999999 a=b\n",
        "2 \n", "5 ab\n", "7", " ", "-1 a=b\n", "0 a=b\n"}) {
    refused(tar({member("h", record, 'x'), member("x", "")}), {"byte 0", "PAX header is damaged"});
  }
}

TEST(HostileTarWalk, sparse_files_and_volumes_are_refused_by_name) {
  expect_error([] { members_of(tar({member("holes", "", 'S', gnu)})); }, {"'holes'", "sparse"});
  expect_error(
      [] {
        members_of(tar({member("h", pax("GNU.sparse.major", "1"), 'x'), member("x", "")}));
      },
      {"sparse", "GNU.sparse.major"});
  expect_error([] { members_of(tar({member("half", "", 'M', gnu)})); }, {"'half'", "volume"});
}

TEST(HostileTarWalk, a_tar_cut_anywhere_before_its_end_marker_is_seen_to_be_cut) {
  const Buffer bytes = tar({member("././@PaxHeader", pax("path", "long"), 'x'), member("s", "abc"),
                            member("t", std::string(600, 't'))});
  const std::size_t whole = bytes.size() - tar_block;  // one block of zeros is enough
  for (std::size_t size = 0; size < whole; ++size) {
    // In memory of exactly that size, so that the sanitizers see a read beyond it.
    const Buffer cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    expect_error([&] { members_of(cut); }, {"byte ", "cut short"});
  }
  EXPECT_EQ(members_of(bytes).size(), 2U);
}

TEST(HostileTarWalk, a_flipped_bit_in_a_header_is_noticed) {
  const Buffer bytes = tar({member("name", "abc")});
  const auto sound = members_of(bytes);
  for (std::size_t bit = 0; bit < 8 * tar_block; ++bit) {
    Buffer damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    try {
      EXPECT_EQ(members_of(damaged), sound) << "bit " << bit;  // a blank for a zero, say
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("byte 0: no tar header"),
                std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
