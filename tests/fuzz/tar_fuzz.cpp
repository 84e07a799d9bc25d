// The members of a tar, with the checksum of every header fixed.

#include <algorithm>
#include <cstdio>
#include <string>

#include "formats/containers/webdataset/tar_index.h"
#include "formats/io/tar_format.h"
#include "formats/io/tar_writer.h"
#include "tests/fuzz/mend_tar.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

using namespace std::string_view_literals;

struct Sink {
  Buffer bytes;
  void write(Bytes piece) { append(bytes, piece); }
};

struct File {
  std::string name;
  Bytes content;
};

std::vector<TarEntry> entries_of(Bytes tar) {
  std::vector<TarEntry> entries;
  TarWalk walk(tar);
  TarEntry entry;
  std::uint64_t before = 0;
  while (walk.next(entry)) {
    require(walk.position() > before && walk.position() <= tar.size(), "a member takes blocks");
    require(entry.header >= before && entry.header < entry.offset, "data come behind headers");
    require(entry.offset <= tar.size() && entry.size <= tar.size() - entry.offset,
            "data lie inside the tar");
    before = walk.position();
    entries.push_back(entry);
  }
  return entries;
}

// Files that our writer puts into a tar read back unchanged.
void check_writing(Bytes tar, std::vector<TarEntry> entries) {
  std::erase_if(entries, [](const TarEntry& entry) { return !entry.is_file(); });
  Sink sink;
  TarWriter writer(sink);
  for (const TarEntry& entry : entries) {
    writer.add(entry.name, tar.subspan(entry.offset, entry.size));
  }
  writer.finish();
  const std::vector<TarEntry> again = entries_of(sink.bytes);
  require(again.size() == entries.size(), "as many files as were written");
  for (std::size_t i = 0; i < again.size(); ++i) {
    require(again[i].name == entries[i].name && again[i].is_file() &&
                same(Bytes(sink.bytes).subspan(again[i].offset, again[i].size),
                     tar.subspan(entries[i].offset, entries[i].size)),
            "a file of a tar reads as it was written");
  }
}

// A member of any type with data, as other tools write them.
void append_member(Buffer& tar, std::string_view name, char type, std::string_view content,
                   std::string_view magic) {
  const std::size_t at = tar.size();
  tar.resize(at + tar_block + tar_padded(content.size()));
  char* header = reinterpret_cast<char*>(tar.data() + at);
  std::snprintf(header + tar_field::size.offset, tar_field::size.size, "%011zo", content.size());
  std::copy(name.begin(), name.end(), header);
  std::copy(magic.begin(), magic.end(), header + tar_field::magic.offset);
  header[tar_field::type.offset] = type;
  std::copy(content.begin(), content.end(), header + tar_block);
}

}  // namespace

std::vector<Buffer> seeds() {
  constexpr auto posix = "ustar\00000"sv, gnu = "ustar  \0"sv;
  std::vector<Buffer> all(3);
  append_member(all[0], "a.txt", '0', "content", posix);
  append_member(all[0], "dir/", '5', {}, posix);
  append_member(all[1], "././@LongLink", 'L', "a/long/name\0"sv, gnu);
  append_member(all[1], "a/long", '0', {}, gnu);
  append_member(all[2], "pax", 'x', "14 path=b/c.d\n9 size=3\n13 mtime=1.5\n", posix);
  append_member(all[2], "b", '\0', "xyz", posix);
  for (Buffer& tar : all) {
    tar.resize(tar.size() + 2 * tar_block);
    mend_tar(tar);
  }
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend_tar);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes tar = fenced(data, size);
  std::vector<TarEntry> entries;
  if (accepts([&] { entries = entries_of(tar); })) check_writing(tar, entries);
  return 0;
}
