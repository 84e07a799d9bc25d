#include "converters/pipeline/journal.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

Sha256 digest_of(int number) { return sha256(as_bytes(std::to_string(number))); }

/// The tally after `count` samples.
Tally make_tally(std::uint64_t count, int first = 0) {
  Tally tally;
  tally.read = count + 1;
  tally.written = count;
  tally.bytes = 4 * count;
  tally.mended = 2;
  tally.shape = {1, 2, 1};
  tally.codec = "png";
  tally.class_counts = {count, 0, 3};
  tally.sums = {10 * count, 20 * count};
  tally.skipped = {{5, "five.png", "PNG is damaged"}};
  for (std::uint64_t i = 0; i < count; ++i) {
    tally.stored.push_back(raw_stored_digest(digest_of(first + static_cast<int>(i))));
    tally.pixels.push_back(digest_of(-first - static_cast<int>(i)));
  }
  tally.writer = {count, {{"data.rec", 1234}, {"data.idx", 56}}};
  return tally;
}

const std::vector<std::string> purpose{"source made", "--shuffle 7"};

TEST(UnitJournal, what_was_noted_last_is_what_a_later_run_finds) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    Journal journal(partial, purpose);
    EXPECT_FALSE(journal.load());
    journal.save(make_tally(3));
    journal.save(make_tally(7));
  }
  PartialDirectory partial(directory / "out", PartialDirectory::Stale::adopted);
  ASSERT_TRUE(partial.adopted());
  Journal journal(partial, purpose);
  const std::optional<Tally> found = journal.load();
  ASSERT_TRUE(found);
  const Tally expected = make_tally(7);
  EXPECT_EQ(found->read, expected.read);
  EXPECT_EQ(found->written, expected.written);
  EXPECT_EQ(found->bytes, expected.bytes);
  EXPECT_EQ(found->mended, expected.mended);
  EXPECT_EQ(found->shape, expected.shape);
  EXPECT_EQ(found->codec, expected.codec);
  EXPECT_EQ(found->class_counts, expected.class_counts);
  EXPECT_EQ(found->sums, expected.sums);
  ASSERT_EQ(found->skipped.size(), 1U);
  EXPECT_EQ(found->skipped[0].position, 5U);
  EXPECT_EQ(found->skipped[0].reason, "PNG is damaged");
  EXPECT_EQ(found->stored, expected.stored);
  EXPECT_EQ(found->pixels, expected.pixels);
  EXPECT_EQ(found->writer.samples, 7U);
  EXPECT_EQ(found->writer.files, expected.writer.files);
}

TEST(UnitJournal, a_directory_without_a_note_does_not_stay) {
  const TempDirectory directory;
  { PartialDirectory partial(directory / "out"); }
  EXPECT_FALSE(fs::exists(directory / "out.partial"));
}

TEST(UnitJournal, parts_add_up_to_the_whole) {
  Tally all;
  all.append(make_tally(3));
  all.append(make_tally(4, 3));
  const Tally expected = make_tally(7);
  EXPECT_EQ(all.written, 7U);
  EXPECT_EQ(all.stored, expected.stored);
  EXPECT_EQ(all.pixels, expected.pixels);
  EXPECT_EQ(all.sums, expected.sums);
  EXPECT_EQ(all.class_counts, (std::vector<std::uint64_t>{7, 0, 6}));
  EXPECT_TRUE(all.same_shape);
  EXPECT_EQ(all.mean()->values, (std::vector<double>{10, 20}));
}

TEST(UnitJournal, parts_of_other_codecs_and_shapes_have_none_in_common) {
  Tally all;
  all.append(make_tally(3));
  Tally other = make_tally(2);
  other.codec = "jpeg";
  other.shape = {2, 1, 1};
  all.append(other);
  EXPECT_EQ(all.codec, "mixed");
  EXPECT_FALSE(all.same_shape);
  EXPECT_FALSE(all.mean());
}

TEST(HostileJournal, another_purpose_is_refused_with_the_line_that_differs) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    Journal(partial, purpose).save(make_tally(3));
  }
  PartialDirectory partial(directory / "out", PartialDirectory::Stale::adopted);
  Journal journal(partial, {"source made", "--shuffle 8"});
  expect_error([&] { journal.load(); }, {"out.partial", "'--shuffle 7'", "'--shuffle 8'"});
}

TEST(HostileJournal, a_damaged_note_is_named) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    Journal(partial, purpose).save(make_tally(3));
  }
  const fs::path partial = directory / "out.partial";
  const std::string notes = read_text(partial / "progress.json");
  for (const std::size_t keep : {std::size_t{0}, std::size_t{10}, notes.size() - 3}) {
    write_text(partial / "progress.json", std::string_view(notes).substr(0, keep));
    expect_error([&] { read_journal(partial); }, {"progress.json", "cannot be understood"});
  }
  write_text(partial / "progress.json", notes);
  fs::resize_file(partial / "progress.bin", 2 * 64);
  expect_error([&] { read_journal(partial); }, {"progress.bin", "2 samples", "expected 3"});
}

}  // namespace
}  // namespace feedrate::converters
