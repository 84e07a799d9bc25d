#include "tools/lab/measure/proc.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/temp_directory.h"

namespace feedrate::tools {
namespace {

TEST(UnitProc, reads_the_time_in_which_some_task_waited) {
  EXPECT_EQ(pressure_total("some avg10=0.00 avg60=0.09 avg300=0.42 total=12711072\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.10 total=6811447\n"),
            12711072U);
  EXPECT_EQ(pressure_total("full avg10=0.00 total=7\nsome avg10=1.00 total=8"), 8U);
}

TEST(UnitProc, reads_what_came_from_disks_and_not_what_was_asked_for) {
  EXPECT_EQ(io_read_bytes("rchar: 6976\nwchar: 0\nsyscr: 10\nread_bytes: 4096\nwrite_bytes: 1\n"),
            4096U);
}

TEST(UnitProc, reads_the_pages_in_memory_and_not_those_mapped) {
  EXPECT_EQ(resident_pages("54321 1234 900 1 0 30000 0\n"), 1234U);
}

TEST(UnitProc, reads_how_long_threads_ran_and_waited_for_a_core) {
  const std::optional<CoreTime> time = core_time("123456 7890 12\n");
  EXPECT_EQ(time.value().ran, 123456);
  EXPECT_EQ(time.value().waited, 7890);
  EXPECT_FALSE(core_time("123456\n"));
  const testing::TempDirectory tasks;
  EXPECT_FALSE(core_time_of_threads(tasks.path()));
  for (const char* thread : {"17", "18"}) {
    std::filesystem::create_directories(tasks / thread);
    std::ofstream(tasks / thread / "schedstat") << "100 30 2\n";
  }
  std::filesystem::create_directories(tasks / "19");  // it has just ended
  EXPECT_EQ(core_time_of_threads(tasks.path()).value().ran, 200);
  EXPECT_EQ(core_time_of_threads(tasks.path()).value().waited, 60);
}

// Reading what /proc tells of a thread fails once that thread has ended.
TEST(HostileProc, a_file_that_cannot_be_read_gives_nothing) {
  const testing::TempDirectory directory;
  EXPECT_EQ(text_of(directory.path()), std::nullopt) << "a directory opens, but read() fails";
  EXPECT_EQ(text_of(directory / "none"), std::nullopt);
}

TEST(UnitProc, reads_what_the_host_gave_to_other_machines) {
  const auto time = machine_time("cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  EXPECT_EQ(time.value().all, 360);
  EXPECT_EQ(time.value().stolen, 80);
  EXPECT_FALSE(machine_time("cpu  10 20 30 40 50 60 70\n"));
  EXPECT_FALSE(machine_time("intr 7\n"));
}

TEST(UnitProc, this_process_has_used_processor_time_and_has_memory) {
  EXPECT_GT(process_cpu_seconds(), 0);
  EXPECT_GT(resident_pages(text_of("/proc/self/statm").value_or("")).value_or(0), 100U);
}

TEST(HostileProc, malformed_texts_give_nothing) {
  constexpr const char* texts[] = {"",
                                   "\n",
                                   " ",
                                   "some",
                                   "some ",
                                   "some total",
                                   "some total=",
                                   "some  total=\n",
                                   "some total=x",
                                   "some total=-1",
                                   "some total=99999999999999999999999",
                                   "full total=5\n",
                                   "awesome total=5\n",
                                   "read_bytes",
                                   "read_bytes:",
                                   "read_bytes: ",
                                   "read_bytes: \n",
                                   "read_bytes: 1e3\n",
                                   "cancelled_read_bytes: 5",
                                   "read_bytes: 99999999999999999999999",
                                   "7",
                                   "7 ",
                                   "7  8",
                                   "7 x 8",
                                   "7 -8"};
  for (const std::string text : texts) {
    EXPECT_EQ(pressure_total(text), std::nullopt) << text;
    EXPECT_EQ(io_read_bytes(text), std::nullopt) << text;
    EXPECT_EQ(resident_pages(text), std::nullopt) << text;
  }
}

TEST(HostileProc, a_text_cut_at_any_byte_gives_nothing_or_a_part) {
  const std::string pressure = "some avg10=0.00 avg60=0.09 avg300=0.42 total=12711072\n";
  for (std::size_t size = 0; size < pressure.size(); ++size) {
    const auto total = pressure_total(std::string_view(pressure).substr(0, size));
    EXPECT_LE(total.value_or(0), 12711072U) << size;
  }
}

TEST(UnitProc, a_file_that_is_not_there_is_absent) {
  EXPECT_EQ(text_of("/nowhere/at/all"), std::nullopt);
  EXPECT_EQ(text_of("/proc/self/cgroup/no"), std::nullopt);
  EXPECT_TRUE(text_of("/dev/null").has_value());
}

}  // namespace
}  // namespace feedrate::tools
