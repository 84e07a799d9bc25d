#include "tools/program/cluster/place.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/expect_error.h"

namespace feedrate::tools {
namespace {

using testing::expect_error;
using Variables = std::map<std::string, std::string>;

std::optional<Place> place(const Variables& variables) {
  return place_in([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void expect_place(const Variables& variables, std::uint32_t number, std::uint32_t count) {
  const auto found = place(variables);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->number, number) << found->from;
  EXPECT_EQ(found->count, count) << found->from;
}

Variables array(const std::string& id, const std::string& min, const std::string& max,
                const std::string& count, const std::string& step = "1") {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_MIN", min},
          {"SLURM_ARRAY_TASK_MAX", max},
          {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_STEP", step}};
}

TEST(UnitPlace, without_a_launcher_there_is_none) {
  EXPECT_FALSE(place({}));
  EXPECT_FALSE(place({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));  // a batch script
  EXPECT_FALSE(place({{"RANK", "1"}}));
}

TEST(UnitPlace, launchers_count_from_zero) {
  expect_place({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 1, 4);
  expect_place({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}, 4, 4);
  expect_place({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}}, 2, 2);
  expect_place({{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "3"}}, 3, 3);
}

TEST(UnitPlace, the_innermost_launcher_counts) {
  // mpirun starts one helper on each node by srun; its ranks inherit the helper's variables.
  expect_place({{"SLURM_PROCID", "0"},
                {"SLURM_STEP_NUM_TASKS", "2"},
                {"OMPI_COMM_WORLD_RANK", "5"},
                {"OMPI_COMM_WORLD_SIZE", "8"}},
               6, 8);
}

TEST(UnitPlace, a_slurm_array_may_start_anywhere_and_take_steps) {
  expect_place(array("0", "0", "7", "8"), 1, 8);
  expect_place(array("8", "1", "8", "8"), 8, 8);
  expect_place(array("6", "2", "8", "4", "2"), 3, 4);
  // --array=1-8:2 ends with 7, but Slurm gives 7 as the maximum.
  expect_place(array("7", "1", "7", "4", "2"), 4, 4);
}

TEST(UnitPlace, the_processes_of_each_task_of_an_array_are_counted_on) {
  Variables variables = array("2", "1", "3", "3");
  variables["SLURM_PROCID"] = "1";
  variables["SLURM_STEP_NUM_TASKS"] = "4";
  expect_place(variables, 6, 12);
}

TEST(HostilePlace, what_no_launcher_sets_is_named) {
  expect_error(
      [] {
        place({{"RANK", "one"}, {"WORLD_SIZE", "2"}});
      },
      {"RANK is 'one'", "expected a whole number"});
  expect_error(
      [] {
        place({{"RANK", "2"}, {"WORLD_SIZE", "2"}});
      },
      {"RANK is 2, expected less than WORLD_SIZE, which is 2"});
  expect_error([] { place(array("9", "1", "8", "8")); },
               {"SLURM_ARRAY_TASK_ID is 9, expected 1 to 8"});
  expect_error([] { place({{"SLURM_ARRAY_TASK_ID", "1"}}); }, {"SLURM_ARRAY_TASK_MIN is ''"});
}

TEST(HostilePlace, an_array_with_gaps_has_no_parts) {
  expect_error([] { place(array("3", "1", "9", "3")); },
               {"3 tasks from 1 to 9", "gaps", "--part I/N", "--array=1-3"});
}

}  // namespace
}  // namespace feedrate::tools
