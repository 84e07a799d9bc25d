#include "tools/lab/measure/storage.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/temp_directory.h"

namespace feedrate::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* mounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "30 27 259:2 / /data rw,noatime shared:2 master:7 - xfs /dev/nvme0n1p2 rw,attr2\n"
    "31 27 0:44 / /data/set\\040one rw,nosuid - nfs4 server:/set\\134one rw,vers=4.2\n"
    "32 27 0:45 / /twice rw - tmpfs first rw\n"
    "33 27 0:46 / /twice ro - tmpfs second rw\n";

TEST(UnitStorage, a_path_lies_on_the_mount_nearest_above_it) {
  const auto type = [](const char* path) { return mount_of(mounts, path).value().type; };
  EXPECT_EQ(type("/home/me"), "ext4");
  EXPECT_EQ(type("/data"), "xfs");
  EXPECT_EQ(type("/data/lmdb/train"), "xfs");
  EXPECT_EQ(type("/database"), "ext4");  // begins with /data, but is not below it
  EXPECT_EQ(type("/data/set one/a"), "nfs4");
  EXPECT_EQ(mount_of(mounts, "/twice/x").value().source, "second") << "the later hides the earlier";
}

TEST(UnitStorage, a_mount_has_device_options_and_source) {
  const Mount mount = mount_of(mounts, "/data/x").value();
  EXPECT_EQ(mount.device, "259:2");
  EXPECT_EQ(mount.options, "rw,noatime");
  EXPECT_EQ(mount.source, "/dev/nvme0n1p2");
  EXPECT_EQ(mount_of(mounts, "/data/set one/a").value().source, "server:/set\\one");
}

TEST(HostileStorage, lines_that_are_not_mounts_are_skipped) {
  for (const char* text : {"", "\n\n", "-", "- - - -", "1 2 3:4 / / rw -", "1 2 3:4 / / rw - ext4",
                           "1 2 3:4 / / rw ext4 /dev/vda rw", "1 2 3:4 / - ext4 /dev/vda rw"}) {
    EXPECT_FALSE(mount_of(text, "/data")) << text;
  }
  const std::string whole = mounts;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto mount = mount_of(std::string_view(whole).substr(0, size), "/data/set one");
    if (mount) {
      EXPECT_FALSE(mount->type.empty()) << size;
    }
  }
}

/// The part of /sys that disk_of() reads.
class UnitStorageDisk : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((sys() / file).parent_path());
    std::ofstream(sys() / file) << text << '\n';
  }
  void link(const std::string& at, const std::string& to) const {
    fs::create_directories((sys() / at).parent_path());
    fs::create_directories(sys() / to);
    fs::create_directory_symlink(sys() / to, sys() / at);
  }
  const fs::path& sys() const { return directory_.path(); }

 private:
  testing::TempDirectory directory_;
};

TEST_F(UnitStorageDisk, a_partition_belongs_to_a_disk_with_model_and_kind) {
  link("dev/block/259:2", "devices/pci/nvme0n1/nvme0n1p2");
  write("devices/pci/nvme0n1/nvme0n1p2/partition", "2");
  write("devices/pci/nvme0n1/device/model", "Invented SSD 990   ");
  write("devices/pci/nvme0n1/queue/rotational", "0");
  const Disk disk = disk_of("259:2", sys()).value();
  EXPECT_EQ(disk.name, "Invented SSD 990");
  EXPECT_EQ(disk.rotational, false);
}

TEST_F(UnitStorageDisk, a_mapped_device_is_followed_to_its_only_disk) {
  link("dev/block/253:0", "devices/virtual/dm-0");
  link("devices/virtual/dm-0/slaves/sda1", "devices/sda/sda1");
  write("devices/sda/sda1/partition", "1");
  write("devices/sda/queue/rotational", "1");
  EXPECT_EQ(disk_of("253:0", sys()).value().name, "sda");
  EXPECT_EQ(disk_of("253:0", sys()).value().rotational, true);
  link("devices/virtual/dm-0/slaves/sdb1", "devices/sdb/sdb1");
  EXPECT_EQ(disk_of("253:0", sys()).value().name, "dm-0") << "it is of both, so of none alone";
}

TEST_F(UnitStorageDisk, what_the_system_does_not_report_is_absent) {
  EXPECT_FALSE(disk_of("0:21", sys()));
  EXPECT_FALSE(disk_of("", sys() / "nowhere"));
  link("dev/block/254:0", "devices/vda");
  write("devices/vda/queue/rotational", "maybe");
  EXPECT_EQ(disk_of("254:0", sys()).value().name, "vda");
  EXPECT_EQ(disk_of("254:0", sys()).value().rotational, std::nullopt);
}

TEST_F(UnitStorageDisk, devices_that_lie_on_each_other_end_the_search) {
  link("dev/block/253:0", "devices/dm-0");
  link("devices/dm-0/slaves/dm-1", "devices/dm-1");
  link("devices/dm-1/slaves/dm-0", "devices/dm-0");
  EXPECT_TRUE(disk_of("253:0", sys()));
}

TEST(UnitStorage, of_this_machine_the_file_system_is_known_and_of_no_path_nothing) {
  EXPECT_TRUE(storage_of("/").mount);
  EXPECT_EQ(storage_of("/proc").mount.value().type, "proc");
  EXPECT_FALSE(storage_of("/proc").disk);
  EXPECT_FALSE(storage_of("").mount);
  EXPECT_FALSE(storage_of("/nowhere/at/all").mount);
}

}  // namespace
}  // namespace feedrate::tools
