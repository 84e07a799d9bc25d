// Compares trainer/NETWORKS.md with the program: every network, preset, optimizer, schedule and
// loader recipe has a row with the program's numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "loader/recipe.h"
#include "tests/support/places.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/presets/preset.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

class ConformanceNetworksPage : public ::testing::Test {
 protected:
  ConformanceNetworksPage() {
    std::ifstream lines(testing::source_directory() / "trainer/NETWORKS.md");
    for (std::string line; std::getline(lines, line);) lines_.push_back(line);
  }

  /// Exactly one row starts with `start` and contains `part` after it.
  void expect_row(const std::string& start, const std::string& part = "") const {
    const auto fits = [&](const std::string& line) {
      return line.starts_with(start) && line.find(part, start.size()) != std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(lines_, fits), 1) << start << "…" << part;
  }

 private:
  std::vector<std::string> lines_;
};

TEST_F(ConformanceNetworksPage, has_every_network_with_its_counts) {
  for (const Network* row : networks()) {
    const Shape input = row->published_input();
    const Graph graph = row->build(input, row->published_classes());
    expect_row(join("| `", row->name(), "` | ", input.height, " × ", input.width, " × ",
                    input.channels, " | ", row->published_classes(), " | ",
                    grouped(static_cast<std::uint64_t>(graph.parameter_count())), " | ",
                    grouped(graph.macs()), " |"));
  }
}

TEST_F(ConformanceNetworksPage, has_every_preset_with_what_it_trains) {
  for (const Preset* row : presets()) {
    const TrainRecipe& recipe = row->recipe();
    const std::string length = recipe.length.steps > 0 ? join(recipe.length.steps, " steps")
                                                       : join(recipe.length.epochs, " epochs");
    expect_row(join("| `", row->name(), "` | `", row->network(), "` | ", row->augmentation(), " | ",
                    recipe.batch, " | ", length, " | ", recipe.update.optimizer, " ",
                    fmt::format("{}", recipe.schedule.rate)));
  }
}

TEST_F(ConformanceNetworksPage, has_every_optimizer_and_every_schedule) {
  for (const Optimizer* row : optimizers()) expect_row(join("| `", row->name(), "` | "));
  for (const char* policy :
       {"fixed", "step", "multistep", "inv", "poly", "exp", "sigmoid", "cosine"}) {
    expect_row(join("| `", policy, "` | "));
  }
}

TEST_F(ConformanceNetworksPage, has_the_loaders_recipes_and_what_each_is_measured_with) {
  for (const Recipe* row : recipes()) {
    if (row->name().ends_with("-eval")) continue;
    const Recipe& evaluation = row->evaluation();
    expect_row(join("| `", row->name(), "` | "),
               &evaluation == row ? "| the same |" : join("| `", evaluation.name(), "`"));
  }
}

}  // namespace
}  // namespace feedrate::trainer
