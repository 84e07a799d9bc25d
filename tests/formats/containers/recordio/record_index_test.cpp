#include "formats/containers/recordio/record_index.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/recordio/record_list.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // start, id

class UnitRecordIndex : public ::testing::Test {
 protected:
  Places read(std::string_view text) const {
    write_text(file_, text);
    Places places;
    for (const RecordPlace& place : read_record_index(file_, 1000)) {
      places.emplace_back(place.start, place.id);
    }
    const Offsets starts = read_record_starts(file_, 1000);
    EXPECT_EQ(starts.size(), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(starts[i], places[i].first);
    return places;
  }
  RecordList list(std::string_view text) const {
    write_text(file_, text);
    return RecordList(file_);
  }

  TempDirectory directory_;
  std::filesystem::path file_ = directory_ / "data.idx";
};
using HostileRecordIndex = UnitRecordIndex;

TEST(UnitTextFiles, a_number_is_taken_with_the_end_behind_it) {
  std::string_view text = "12\t34\t";
  EXPECT_EQ(take_number<std::uint64_t>(text, '\t'), 12U);
  EXPECT_EQ(text, "34\t");
  EXPECT_EQ(take_number<std::uint64_t>(text, ' '), std::nullopt) << "another end";
  EXPECT_EQ(text, "34\t") << "nothing is taken then";
  for (std::string_view none :
       {"", "\t", "12", "-1\t", "+1\t", " 1\t", "1 \t", "0x1\t", "18446744073709551616\t"}) {
    EXPECT_EQ(take_number<std::uint64_t>(none, '\t'), std::nullopt) << none;
  }
}

TEST_F(UnitRecordIndex, places_come_in_the_order_of_the_file_whatever_that_of_the_lines) {
  EXPECT_EQ(read("7\t0\n3\t16\n9\t48\n"), (Places{{0, 7}, {16, 3}, {48, 9}}));
  EXPECT_EQ(read("9\t48\n7\t0\n3\t16\n"), (Places{{0, 7}, {16, 3}, {48, 9}}));
  EXPECT_EQ(read("7\t0\r\n3\t16"), (Places{{0, 7}, {16, 3}})) << "CR LF, and no end of the last";
  EXPECT_TRUE(read("").empty());
}

TEST_F(UnitRecordIndex, more_lines_than_their_length_lets_expect_are_read) {
  std::string text = "0\t0\n";
  for (int i = 1; i < 200; ++i) text += join("0\t", 4 * i, "\n");
  const Places places = read(text);
  ASSERT_EQ(places.size(), 200U);
  EXPECT_EQ(places.back().first, 796U);
}

TEST_F(HostileRecordIndex, a_line_that_is_none_is_named) {
  for (const char* line : {"", "1", "1\t", "\t4", "1\tx", "x\t4", "1\t4\t", "1\t4 ", "1 \t4",
                           "-1\t4", "1\t-4", "1\t+4", "1\t4\r\r", "1\t\t4", "1,4",
                           "18446744073709551616\t4", "1\t18446744073709551616"}) {
    SCOPED_TRACE(line);
    expect_error([&] { read(join("0\t0\n", line, "\n2\t8\n")); },
                 {"data.idx", "line 2: expected an id, a tab and an offset"});
  }
  expect_error([&] { read(std::string_view("0\t0\n1\t4\0\n", 9)); }, {"line 2"});
}

TEST_F(HostileRecordIndex, offsets_that_no_record_has_are_named) {
  expect_error([&] { read("0\t0\n1\t5\n"); }, {"line 2: no record can start at byte 5 of 1000"});
  expect_error([&] { read("0\t0\n1\t1000\n"); }, {"line 2: no record can start at byte 1000"});
  expect_error([&] { read("0\t0\n1\t8\n2\t8\n"); }, {"names one offset twice"});
  expect_error([&] { read("1\t8\n2\t0\n3\t8\n"); }, {"names one offset twice"});
  expect_error([&] { read("1\t8\n"); }, {"does not name the first record"});
}

TEST_F(UnitRecordIndex, a_list_s_names_are_found_by_id) {
  const RecordList names = list("5\t1.0\ta b.png\r\n3\t2\t3\tc.png\n4\t1\td.png");
  EXPECT_EQ(names.name(5), "a b.png");
  EXPECT_EQ(names.name(3), "c.png");
  EXPECT_EQ(names.labels(3), "2\t3");
  EXPECT_EQ(names.name(4), "d.png");
  EXPECT_EQ(names.name(6), "");
}

TEST_F(UnitRecordIndex, blanks_around_the_tabs_of_a_list_do_not_count) {
  const RecordList names = list(" 3 \t 2 \t1 \t c d.png \n");
  EXPECT_EQ(names.name(3), "c d.png");
}

TEST_F(HostileRecordIndex, lines_that_are_none_of_a_list_say_nothing_and_are_found) {
  const RecordList names = list("0\t1\ta\n\n-1\t1\tb\n2\tlonely\nx\n3x\t1\tc\n4\t1\td\n");
  EXPECT_EQ(names.name(0), "a");
  EXPECT_EQ(names.name(4), "d");
  for (const std::uint64_t id : {1U, 2U, 3U}) EXPECT_EQ(names.name(id), "");
  std::string told;
  names.audit([](std::uint64_t) { return true; },
              [&](const Finding& finding) { told += finding.place + "\n"; });
  for (const char* line : {"line 2", "line 3", "line 4", "line 5", "line 6"}) {
    EXPECT_NE(told.find(line), std::string::npos) << line << " in\n" << told;
  }
  EXPECT_EQ(told.find("line 1"), std::string::npos) << told;
  EXPECT_EQ(told.find("line 7"), std::string::npos) << told;
}

}  // namespace
}  // namespace feedrate::formats
