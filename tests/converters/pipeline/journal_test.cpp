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

/// The digests of sample `number`.
SampleDigests digests_of(int number) {
  return {raw_stored_digest(digest_of(number)), digest_of(-number)};
}

std::vector<SampleDigests> digests_of_first(int count) {
  std::vector<SampleDigests> all;
  for (int i = 0; i < count; ++i) all.push_back(digests_of(i));
  return all;
}

/// A sink for load() and read_digests().
DigestSink into(std::vector<SampleDigests>& list) {
  return [&](const SampleDigests& sample) { list.push_back(sample); };
}

/// The tally after `count` samples.
Tally make_tally(std::uint64_t count) {
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
  tally.writer = {count, {{"data.rec", 1234}, {"data.idx", 56}}};
  return tally;
}

const std::vector<std::string> purpose{"source made", "--shuffle 7"};

void save_three(PartialDirectory& partial) {
  Journal journal(partial, purpose);
  for (int i = 0; i < 3; ++i) journal.add(digests_of(i));
  journal.save(make_tally(3));
}

TEST(UnitJournal, what_was_noted_last_is_what_a_later_run_finds) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    Journal journal(partial, purpose);
    EXPECT_FALSE(journal.exists());
    for (int i = 0; i < 3; ++i) journal.add(digests_of(i));
    journal.save(make_tally(3));
    for (int i = 3; i < 7; ++i) journal.add(digests_of(i));
    journal.save(make_tally(7));
    journal.add(digests_of(99));  // lost: not saved
  }
  PartialDirectory partial(directory / "out", PartialDirectory::Stale::adopted);
  ASSERT_TRUE(partial.adopted());
  Journal journal(partial, purpose);
  std::vector<SampleDigests> digests;
  ASSERT_TRUE(journal.exists());
  const Tally found = journal.load(into(digests));
  EXPECT_EQ(digests, digests_of_first(7));
  for (int i = 7; i < 9; ++i) journal.add(digests_of(i));
  journal.save(make_tally(9));
  digests.clear();
  read_digests(partial.path(), 9, into(digests));
  EXPECT_EQ(digests, digests_of_first(9));
  const Tally expected = make_tally(7);
  EXPECT_EQ(found.read, expected.read);
  EXPECT_EQ(found.written, expected.written);
  EXPECT_EQ(found.bytes, expected.bytes);
  EXPECT_EQ(found.mended, expected.mended);
  EXPECT_EQ(found.shape, expected.shape);
  EXPECT_EQ(found.codec, expected.codec);
  EXPECT_EQ(found.class_counts, expected.class_counts);
  EXPECT_EQ(found.sums, expected.sums);
  ASSERT_EQ(found.skipped.size(), 1U);
  EXPECT_EQ(found.skipped[0].position, 5U);
  EXPECT_EQ(found.skipped[0].reason, "PNG is damaged");
  EXPECT_EQ(found.writer.samples, 7U);
  EXPECT_EQ(found.writer.files, expected.writer.files);
}

TEST(UnitJournal, one_saved_before_the_first_sample_is_found) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    Journal(partial, purpose).save(make_tally(0));
  }
  PartialDirectory partial(directory / "out", PartialDirectory::Stale::adopted);
  ASSERT_TRUE(partial.adopted());
  std::vector<SampleDigests> none;
  const Tally found = Journal(partial, purpose).load(into(none));
  EXPECT_EQ(found.skipped.size(), 1U);
  EXPECT_TRUE(none.empty());
}

TEST(UnitJournal, a_directory_without_a_note_does_not_stay) {
  const TempDirectory directory;
  { PartialDirectory partial(directory / "out"); }
  EXPECT_FALSE(fs::exists(directory / "out.partial"));
}

TEST(UnitJournal, parts_add_up_to_the_whole) {
  Tally all;
  all.append(make_tally(3));
  all.append(make_tally(4));
  const Tally expected = make_tally(7);
  EXPECT_EQ(all.written, 7U);
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
    save_three(partial);
  }
  PartialDirectory partial(directory / "out", PartialDirectory::Stale::adopted);
  Journal journal(partial, {"source made", "--shuffle 8"});
  std::vector<SampleDigests> none;
  expect_error([&] { journal.load(into(none)); },
               {"out.partial", "'--shuffle 7'", "'--shuffle 8'"});
}

TEST(HostileJournal, a_damaged_note_is_named) {
  const TempDirectory directory;
  {
    PartialDirectory partial(directory / "out");
    save_three(partial);
  }
  const fs::path partial = directory / "out.partial";
  const std::string notes = read_text(partial / "progress.json");
  for (const std::size_t keep : {std::size_t{0}, std::size_t{10}, notes.size() - 3}) {
    write_text(partial / "progress.json", std::string_view(notes).substr(0, keep));
    expect_error([&] { read_journal(partial); }, {"progress.json", "cannot be understood"});
  }
  write_text(partial / "progress.json", notes);
  fs::resize_file(partial / "progress.bin", 2 * 64);
  std::vector<SampleDigests> some;
  expect_error([&] { read_digests(partial, 3, into(some)); },
               {"progress.bin", "2 samples", "expected 3"});
}

}  // namespace
}  // namespace feedrate::converters
