#include "formats/containers/lmdb/lmdb_check.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

constexpr std::size_t free_pages = 16 + 24;  // where a meta page tells of their tree

// A small LMDB that has no free pages, with one byte of what it states of them changed.
Buffer lmdb_with(std::size_t at, std::byte value) {
  const TempDirectory directory;
  write_dataset(container("lmdb"), raw_codec, directory / "set", make_examples({8, 8, 1}, 9));
  Buffer file;
  read_file(directory / "set" / "data.mdb", file);
  const std::size_t page = lmdb_meta(file, std::nullopt).page_size;
  for (const std::size_t meta : {std::size_t{0}, page}) {
    EXPECT_EQ(load_le<std::uint64_t>(&file[meta + free_pages + 40]), LmdbTree::no_page);
    file[meta + free_pages + at] = value;
  }
  return file;
}

void check(const Buffer& file) { check_lmdb(file, lmdb_meta(file, std::nullopt)); }

// liblmdb goes on from what an empty tree states, and makes a tree that contradicts it.
TEST(HostileLmdbCheck, an_empty_tree_that_states_a_depth_entries_or_a_kind_is_refused) {
  check(lmdb_with(4, std::byte{8}));  // as liblmdb has it
  expect_error([] { check(lmdb_with(4, std::byte{0})); }, {"has flags 0"});
  expect_error([] { check(lmdb_with(6, std::byte{1})); }, {"an empty tree of depth 1"});
  expect_error([] { check(lmdb_with(32, std::byte{2})); }, {"empty tree", "2 entries"});
}

}  // namespace
}  // namespace feedrate::formats
