#include "tools/lab/measure/engines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/emulated_program.h"
#include "tests/support/temp_directory.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;
using trainer::ProductEngine;

TEST(UnitEngines, a_warning_names_three_fallbacks_and_counts_all) {
  std::vector<ProductEngine> engines(2, {.node = "conv1", .product = "convolution", .name = "62"});
  EXPECT_EQ(fallback_warning(engines), "");
  engines[1].fallback = "it does not use tensor cores";
  EXPECT_EQ(
      fallback_warning(engines),
      "1 of 2 products run on engines that may be slow: conv1, convolution (engine 62): it does "
      "not use tensor cores");
  engines.resize(9, engines[1]);
  const std::string many = fallback_warning(engines);
  EXPECT_TRUE(many.starts_with("8 of 9 products")) << many;
  EXPECT_TRUE(many.ends_with("; --json lists all")) << many;
}

TEST(CommandsTrainEngines, a_fallback_is_a_warning_and_json_tells_the_engines) {
  const testing::TempDirectory directory;
  const auto program = testing::program_with_emulated_device(directory.path());
  if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
  const auto run = [&](const std::vector<std::string>& arguments) {
    return testing::run_program(*program, arguments);
  };
  const std::string archives = (directory.path() / "archives").string();
  const std::string dataset = (directory.path() / "lmdb").string();
  run({"synth", "mnist", "--images", "20", "--out", archives});
  run({"convert", "mnist", archives, "--to", "lmdb", "--out", dataset});
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  for (const char* broken : {"", "678"}) {  // the engines that are expected to be fast
    setenv("FEEDRATE_EMULATED_BROKEN", broken, 1);
    setenv("FEEDRATE_EMULATED_CAPTURE", *broken == '\0' ? "" : "refused", 1);
    const testing::Said said = run({"train", dataset, "--network", "lenet", "--device", "cuda",
                                    "--batch", "2", "--steps", "3", "--json"});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    const auto object = ordered_json::parse(said.output);
    const ordered_json& engines = object.at("engines");
    ASSERT_EQ(engines.size(), 5U) << "two convolutions; the pixels need no gradient";
    EXPECT_EQ(engines[0].at("node"), "conv1");
    const bool falls_back = *broken != '\0';
    EXPECT_EQ(object.at("steps_recorded"), !falls_back);
    EXPECT_TRUE(object.at("early_kernels").is_boolean());
    EXPECT_EQ(object.at("early_kernels_off").is_string(), falls_back) << object;
    EXPECT_EQ(object.at("weight_branch"), true);
    EXPECT_EQ(engines[0].at("fallback").is_string(), falls_back);
    for (const char* warning : {"5 of 5 products run on engines that may be slow: conv1",
                                "could not be recorded as a CUDA graph (CUDA: "}) {
      EXPECT_EQ(said.errors.find(warning) != std::string::npos, falls_back) << said.errors;
    }
  }
  for (const char* name :
       {"XDG_CACHE_HOME", "FEEDRATE_EMULATED_BROKEN", "FEEDRATE_EMULATED_CAPTURE"}) {
    unsetenv(name);
  }
}

}  // namespace
}  // namespace feedrate::tools
