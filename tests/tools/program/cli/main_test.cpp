// What libgomp has read from the environment, which it prints itself when it is loaded.

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
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("GOMP_SPINCOUNT");
  }
  /// What libgomp prints while a network is timed.
  static std::string shown() {
    return testing::feedrate({"time", "mlp", "--batch", "1", "--seconds", "0.01"}).errors;
  }
};

TEST_F(CommandsSpinning, is_brief_where_a_network_is_trained) {
  EXPECT_NE(shown().find("GOMP_SPINCOUNT = '3000'"), std::string::npos) << shown();
}

TEST_F(CommandsSpinning, is_as_the_user_has_set_it) {
  setenv("GOMP_SPINCOUNT", "7", 1);
  EXPECT_NE(shown().find("GOMP_SPINCOUNT = '7'"), std::string::npos);
  unsetenv("GOMP_SPINCOUNT");
  setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_NE(shown().find("GOMP_SPINCOUNT = '0'"), std::string::npos);
}

TEST_F(CommandsSpinning, does_not_matter_to_a_command_that_does_not_train) {
  EXPECT_EQ(testing::feedrate({"train", "--help"}).errors, "") << "libgomp is loaded";
  EXPECT_EQ(testing::feedrate({"--version"}).errors, "");
}

}  // namespace
}  // namespace feedrate::tools
