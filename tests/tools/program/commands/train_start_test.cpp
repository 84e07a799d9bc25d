// Networks start to learn made images by their own defaults: recipe, scaling of pixels, start
// values, optimizer and rate. Only the batch is smaller than published.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tools/program/cli/command.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
namespace {

using testing::feedrate;
using testing::Said;
using testing::TempDirectory;

class TrainStart : public ::testing::Test {
 protected:
  std::string make(const std::string& kind, const char* images) const {
    const std::string archives = at(kind + "-archives"), dataset = at(kind);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"synth", kind, "--images", images, "--out", archives},
          {"convert", kind, archives, "--to", "recordio", "--out", dataset}}) {
      const Said said = feedrate(words);
      EXPECT_EQ(said.code, exit_done) << said.errors;
    }
    return dataset;
  }

  /// That of the first step, and the mean of all.
  static void expect_start(const std::string& dataset, std::string_view network,
                           const std::string& batch, const std::string& steps) {
    const auto loss = [&](const std::string& count) {
      const Said said = feedrate({"train", dataset, "--network", std::string(network), "--batch",
                                  batch, "--steps", count, "--json"});
      EXPECT_EQ(said.code, exit_done) << network << ": " << said.errors;
      EXPECT_EQ(said.errors.find("diverges"), std::string::npos) << network << ": " << said.errors;
      return said.code == exit_done ? nlohmann::json::parse(said.output).at("loss").get<double>()
                                    : 0.0;
    };
    const double first = loss("1");
    EXPECT_LT(loss(steps), 1.1 * first) << network;
  }

 private:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  TempDirectory directory_;
};

class CommandsTrainStart : public TrainStart {};
class SlowTrainStart : public TrainStart {};

TEST_F(CommandsTrainStart, every_small_network_learns_by_its_defaults) {
  const std::string digits = make("mnist", "640"), thumbnails = make("cifar10", "640");
  std::size_t tried = 0;
  for (const trainer::Network* row : trainer::networks()) {
    const formats::Shape input = row->published_input();
    if (row->build(input, row->published_classes()).macs() > 50'000'000) continue;
    expect_start(input.channels == 1 ? digits : thumbnails, row->name(), "32", "20");
    ++tried;
  }
  EXPECT_GE(tried, 10U);
}

// Their source feeds pixels that are not scaled, from which they diverged in the third step.
TEST_F(SlowTrainStart, MXNets_networks_for_photographs_learn_by_their_defaults) {
  const std::string photographs = make("imagenet", "200");
  for (const char* network : {"alexnet:mxnet", "googlenet:mxnet"}) {
    expect_start(photographs, network, "16", "8");
  }
}

}  // namespace
}  // namespace feedrate::tools
