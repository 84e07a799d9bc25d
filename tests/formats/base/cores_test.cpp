#include "formats/base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::TempDirectory;

/// A root directory with the files by which the kernel describes control groups.
class UnitCores : public ::testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) const {
    const auto path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<double> quota() const { return quota_cores(root_ / ""); }

  void second_version(const std::string& top, const std::string& group) const {
    put("proc/self/mountinfo",
        "22 1 8:1 / / rw,relatime - ext4 /dev/vda rw\n"
        "30 23 0:26 " +
            top + " /sys/fs/cgroup rw,nosuid shared:4 master:2 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("proc/self/cgroup", "0::" + group + "\n");
  }

 private:
  TempDirectory root_;
};

TEST_F(UnitCores, without_groups_or_a_quota_nothing_limits) {
  EXPECT_EQ(quota(), std::nullopt);
  second_version("/", "/job");
  EXPECT_EQ(quota(), std::nullopt);
  put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(UnitCores, the_least_quota_on_the_way_up_counts) {
  second_version("/", "/outer/inner/job");
  put("sys/fs/cgroup/outer/inner/job/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/outer/inner/cpu.max", "600000 100000\n");
  EXPECT_EQ(quota(), 6.0);
  put("sys/fs/cgroup/outer/cpu.max", "75000 50000\n");
  EXPECT_EQ(quota(), 1.5);
  put("sys/fs/cgroup/outer/inner/job/cpu.max", "20000 100000\n");
  EXPECT_EQ(quota(), 0.2);
}

TEST_F(UnitCores, a_container_sees_its_own_group_as_the_top) {
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  second_version("/", "/");
  EXPECT_EQ(quota(), 2.0);
  second_version("/docker/0123", "/docker/0123");
  EXPECT_EQ(quota(), 2.0);
  second_version("/docker/0123", "/docker/0123/job");
  put("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1.0);
  second_version("/", "/../../elsewhere");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(UnitCores, the_first_version_has_a_hierarchy_for_processors) {
  put("proc/self/mountinfo",
      "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "33 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  put("proc/self/cgroup", "9:cpuset:/other\n4:cpu,cpuacct:/job\n0::/\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "350000\n");
  EXPECT_EQ(quota(), 3.5);
}

TEST_F(UnitCores, files_that_make_no_sense_limit_nothing) {
  second_version("/", "/job");
  for (const char* text : {"", "many 100000", "100000", "100000 0", "-5 100000", "nan 1"}) {
    put("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
  put("proc/self/cgroup", "::::\n\n0\n");
  put("proc/self/mountinfo", "- - cgroup2\n\n1 2 3 4 5 6 -\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(UnitUsableCores, a_smaller_affinity_mask_is_kept_to) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(usable_cores(), static_cast<unsigned>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const unsigned cores = usable_cores();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(cores, 1U);
}

}  // namespace
}  // namespace feedrate::formats
