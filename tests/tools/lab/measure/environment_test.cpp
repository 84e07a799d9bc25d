#include "tools/lab/measure/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "tests/support/temp_directory.h"
#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

TEST(UnitEnvironment, names_the_versions_of_the_libraries_that_run) {
  const std::string libraries = describe_environment("").libraries;
  for (const char* name :
       {"oneDNN", "OpenBLAS", "oneTBB", "libjpeg-turbo", "libpng", "LMDB", "zlib", "ISA-L"}) {
    EXPECT_TRUE(std::regex_search(libraries, std::regex(std::string(name) + R"( \d+\.\d+)")))
        << name << " in " << libraries;
  }
}

TEST(UnitEnvironment, names_processors_as_x86_and_arm_do) {
  const testing::TempDirectory directory;
  const std::filesystem::path file = directory / "cpuinfo";
  formats::write_text(file, "processor\t: 0\nmodel name\t: AMD EPYC 9654\nmodel name\t: another\n");
  EXPECT_EQ(processor_name(file.c_str()), "AMD EPYC 9654");
  formats::write_text(file, "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(processor_name(file.c_str()), "ARM 0x41, part 0xd0c");
  formats::write_text(file, "");
  EXPECT_EQ(processor_name(file.c_str()), "unknown");
}

TEST(UnitEnvironment, usable_cores_are_at_most_the_cores_present) {
  const Environment found = describe_environment("feedrate bench");
  EXPECT_GE(found.cores, 1U);
  EXPECT_LE(found.cores, found.cores_present);
  EXPECT_GT(found.memory_mib, 0U);
  EXPECT_EQ(found.command, "feedrate bench");
  if (found.quota) {
    EXPECT_GT(*found.quota, 0);
  }
}

TEST(UnitEnvironment, describes_the_storage_of_the_dataset) {
  const Environment none = describe_environment("");
  EXPECT_FALSE(none.file_system || none.mount_options || none.disk || none.disk_rotational);
  const Environment found = describe_environment("", "/proc");
  EXPECT_EQ(found.file_system, "proc");
  EXPECT_TRUE(found.mount_options.value().starts_with("r"));  // rw or ro
  EXPECT_FALSE(found.disk);
}

TEST(UnitEnvironment, names_the_gpu_and_its_driver) {
  setenv("FEEDRATE_NVML", testing::beside_this_program("libfake_nvml.so").c_str(), 1);
  const Environment found = describe_environment("");
  unsetenv("FEEDRATE_NVML");
  EXPECT_EQ(found.gpu, "Fake GPU 0");
  EXPECT_EQ(found.gpu_driver, "580.65.06");
}

TEST(UnitEnvironment, comes_back_from_a_row_as_it_went) {
  auto row = testing::supply("lmdb", 2, 6000);
  row.environment.quota = 1.5;
  row.environment.disk = "Invented SSD";
  row.environment.disk_rotational = false;
  const std::string line = to_json_line(row);
  const Environment back = parse_row(line, "r.jsonl", 1).environment;
  EXPECT_EQ(back.quota, 1.5);
  EXPECT_EQ(back.disk, "Invented SSD");
  EXPECT_EQ(back.disk_rotational, false);
  EXPECT_FALSE(back.cudnn);
  const auto environment = nlohmann::json::parse(line).at("environment");
  EXPECT_TRUE(environment.at("cuda").is_null());
  EXPECT_FALSE(environment.contains("hostname"));
}

TEST(HostileEnvironment, a_disk_neither_rotational_nor_not_is_refused) {
  auto row = testing::supply("lmdb", 2, 6000);
  row.environment.disk_rotational = true;
  std::string line = to_json_line(row);
  const std::string key = "\"disk_rotational\":";
  line.replace(line.find(key) + key.size(), 4, "7");
  testing::expect_error([&] { parse_row(line, "r.jsonl", 3); }, {"r.jsonl", "line 3"});
}

}  // namespace
}  // namespace feedrate::tools
