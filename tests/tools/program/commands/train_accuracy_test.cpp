// A published network learns real photographs as well in bf16 as in fp32.

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/support/data.h"
#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;

// In fp32 this preset knows 78.8 % of the test images, Keras' own training after 25 epochs 75 %.
TEST(SlowTrainAccuracy, keras_cnn_knows_77_of_100_cifar10_images_in_bf16) {
  if (std::getenv("FEEDRATE_LONG_TESTS") == nullptr) {
    GTEST_SKIP() << "takes 5 minutes; set FEEDRATE_LONG_TESTS=1";
  }
  const auto archive = testing::data_file("cifar10/cifar-10-binary.tar.xz");
  if (!archive) GTEST_SKIP() << "CIFAR-10 is not on this machine";
  const testing::TempDirectory directory;
  const std::string data = (directory.path() / "cifar10").string();
  const Said converted = feedrate(
      {"convert", "cifar10", archive->string(), "--to", "lmdb", "--split", "all", "--out", data});
  ASSERT_EQ(converted.code, exit_done) << converted.errors;

  const Said trained = feedrate({"train", data + "/train", "--val", data + "/test", "--preset",
                                 "cnn-modern", "--precision", "bf16", "--json"});
  if (trained.errors.find("no instructions for bf16") != std::string::npos) {
    GTEST_SKIP() << trained.errors;
  }
  ASSERT_EQ(trained.code, exit_done) << trained.errors;
  EXPECT_GE(nlohmann::json::parse(trained.output).at("val_accuracy").get<double>(), 0.77);
}

}  // namespace
}  // namespace feedrate::tools
