// What libgomp has read from the environment, which it prints itself.

#include "tools/console/spinning.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/run_program.h"

namespace feedrate::tools {
namespace {

class CommandsSpinning : public ::testing::Test {
 protected:
  void SetUp() override { setenv("OMP_DISPLAY_ENV", "verbose", 1); }
  void TearDown() override {
    unsetenv("OMP_DISPLAY_ENV");
    unsetenv("GOMP_SPINCOUNT");
  }
  /// Whether the threads of a command spin so many times before they sleep.
  static bool spins(const char* command, const std::string& times) {
    const std::string shown = testing::feedrate({command, "--help"}).errors;
    EXPECT_NE(shown.find("GOMP_SPINCOUNT"), std::string::npos) << "no libgomp? " << shown;
    return shown.find("GOMP_SPINCOUNT = '" + times + "'") != std::string::npos;
  }
};

TEST_F(CommandsSpinning, is_brief_where_a_network_is_trained) {
  EXPECT_TRUE(spins("train", "3000"));
  EXPECT_TRUE(spins("time", "3000"));
  EXPECT_FALSE(spins("load", "3000"));
}

TEST_F(CommandsSpinning, is_as_the_user_has_set_it) {
  setenv("GOMP_SPINCOUNT", "7", 1);
  EXPECT_TRUE(spins("train", "7"));
  EXPECT_FALSE(spins("train", "3000"));
}

}  // namespace
}  // namespace feedrate::tools
