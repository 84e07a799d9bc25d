// `feedrate time` as a user runs it, and what its columns mean.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/support/emulated_program.h"
#include "tools/lab/layers/layer_times.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace trainer;

namespace {

using testing::feedrate;
using testing::Said;

LayerTime layer(double forward, double backward) {
  return {.name = "conv1",
          .op = "conv",
          .extent = {},
          .forward = forward,
          .backward = backward,
          .work = {{.flops = 100, .bytes = 1}, {.flops = 200, .bytes = 1}}};
}

TEST(UnitLayerTimes, the_roofline_is_reached_if_the_least_time_was_enough) {
  const Roof roof{.flops = 100, .bytes = 100};  // 1 s forward, 2 s backward
  EXPECT_DOUBLE_EQ(layer(1, 2).of_roofline(roof).value(), 1);
  EXPECT_DOUBLE_EQ(layer(2, 4).of_roofline(roof).value(), 0.5);
  EXPECT_DOUBLE_EQ(layer(2, 4).flops_per_second().value(), 50);
  EXPECT_FALSE(layer(2, 4).of_roofline({}));
}

TEST(UnitLayerTimes, the_time_of_a_fused_layer_is_absent_and_not_zero) {
  LayerTime relu = layer(0, 0);
  relu.forward = relu.backward = {};
  EXPECT_FALSE(relu.of_roofline(Roof{1, 1}));
  EXPECT_FALSE(relu.flops_per_second());
  LayerTimes times;
  times.request.batch = 1;
  times.step_seconds = 4;
  times.layers = {layer(1, 2), relu};
  EXPECT_DOUBLE_EQ(times.rest(), 1);
  EXPECT_NE(times.text_of_all().find("computed with the layer before"), std::string::npos);
  EXPECT_NE(times.text().find("computed with the layer before"), std::string::npos);
}

TEST(UnitLayerTimes, operators_are_sums_of_their_layers_and_the_costliest_comes_first) {
  LayerTimes times;
  times.request.batch = 1;
  times.step_seconds = 200;
  LayerTime pool = layer(50, 50);
  pool.op = "max_pool";
  pool.work = {};
  times.layers = {layer(1, 2), pool};
  for (int i = 0; i < 11; ++i) times.layers.push_back(layer(2, 3));
  times.layers.back().name = "costliest_conv";
  times.layers.back().forward = 7;
  times.layers.front().name = "cheapest_conv";
  const std::vector<OperatorTime> operators = times.by_operator();
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].op, "max_pool");
  EXPECT_FALSE(operators[0].flops_per_second());
  EXPECT_EQ(operators[1].layers, 12U);
  EXPECT_DOUBLE_EQ(operators[1].forward, 1 + 10 * 2 + 7);
  EXPECT_DOUBLE_EQ(operators[1].backward, 2 + 11 * 3);
  EXPECT_DOUBLE_EQ(operators[1].flops_per_second().value(), 12 * 300 / 63.0);

  const std::string text = times.text(), all = times.text_of_all();
  EXPECT_NE(text.find("layer, 10 of 13"), std::string::npos) << text;
  EXPECT_NE(text.find("costliest_conv"), std::string::npos) << text;
  EXPECT_EQ(text.find("cheapest_conv"), std::string::npos) << text;
  EXPECT_NE(all.find("cheapest_conv"), std::string::npos) << all;
}

TEST(CommandsTime, every_layer_has_its_line_and_all_of_them_make_the_step) {
  const Said said = feedrate({"time", "lenet", "--batch", "4", "--seconds", "0.05", "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto object = nlohmann::json::parse(said.output);
  EXPECT_EQ(object.at("batch"), 4);
  EXPECT_EQ(object.at("layers").size(), 9U);
  EXPECT_GT(object.at("roof").at("gflops_per_second"), 0);
  EXPECT_EQ(object.at("roof").at("precision"), "fp32");
  double sum = object.at("rest_ms");
  for (const auto& one : object.at("layers")) {
    for (const char* part : {"forward_ms", "backward_ms"}) {
      if (!one.at(part).is_null()) sum += one.at(part).get<double>();
    }
  }
  EXPECT_NEAR(sum, object.at("step_ms").get<double>(), 0.01);
  // The first layer's input is pixels, which need no gradient.
  EXPECT_TRUE(object.at("layers")[0].at("backward_ms").is_null());

  double share = 0;
  for (const auto& one : object.at("by_operator")) {
    if (!one.at("share").is_null()) share += one.at("share").get<double>();
  }
  const double layers = (sum - object.at("rest_ms").get<double>()) / sum;
  EXPECT_NEAR(share, layers, 1e-3);

  const Said table = feedrate({"time", "lenet", "--batch", "4", "--seconds", "0.05", "--all"});
  for (const char* part : {"conv2", "dense1", "update and the rest", "GFLOP/s"}) {
    EXPECT_NE(table.output.find(part), std::string::npos) << part;
  }
}

TEST(CommandsTime, a_gpu_runs_a_step_as_one_piece_and_still_tells_the_time_of_each_layer) {
  const testing::TempDirectory directory;
  const auto program = testing::program_with_emulated_device(directory.path());
  if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  const Said said =
      testing::run_program(*program, {"time", "mlp", "--device", "cuda", "--precision", "bf16",
                                      "--batch", "4", "--seconds", "0.01", "--json"});
  unsetenv("XDG_CACHE_HOME");
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto object = nlohmann::json::parse(said.output);
  EXPECT_EQ(object.at("device_name"), "emulated GPU");
  EXPECT_EQ(object.at("roof").at("precision"), "bf16");
  EXPECT_EQ(object.at("roof").at("value_bytes"), 2);
  for (const auto& layer : object.at("layers")) {
    SCOPED_TRACE(layer.at("name").get<std::string>());
    if (layer.at("op") != "dense") continue;
    EXPECT_GT(layer.at("forward_ms"), 0);
    EXPECT_GT(layer.at("backward_ms"), 0);
    EXPECT_GT(layer.at("of_roofline"), 0);
  }
}

TEST(CommandsTime, an_unknown_network_suggests_the_nearest) {
  const Said said = feedrate({"time", "lennet"});
  EXPECT_EQ(said.code, exit_misused);
  EXPECT_NE(said.errors.find("lenet"), std::string::npos) << said.errors;
}

}  // namespace
}  // namespace feedrate::tools
