#include "tools/program/cli/order_options.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "loader/settings.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {

void add_dataset(CLI::App& app, std::filesystem::path& path, const std::string& what,
                 OrderRequest& order) {
  auto* dataset = add_input(app, "PATH", path, what);
  std::vector<CLI::Option*> ways;
  const auto way = [&](CLI::Option* option, const char* type) {
    for (CLI::Option* other : ways) option->excludes(other);
    ways.push_back(option);
    return option->type_name(type);
  };
  explain(app,
          way(add_input(app, "--order", order.order,
                        "Load these samples: a file with one index per line"),
              "FILE"),
          "Samples may be left out or repeated.");
  explain(app,
          way(add_paths(app,
                        app.add_option("--weights", order.weights,
                                       "Draw samples by weight: a file with one number per line, "
                                       "or balanced"),
                        {.paths = [&order] { return weight_files(order); }}),
              "FILE"),
          "Samples are drawn with replacement. balanced draws every class equally often.");
  way(add_option(app,
                 {.name = "groups",
                  .unit = "PxK",
                  .sentence = "Make groups of P classes with K samples each",
                  .detail = "Each group lies within a batch; its samples differ.",
                  .check = check_groups},
                 order.groups),
      "PxK");
  CLI::Option* mix =
      add_option(app,
                 {.name = "mix",
                  .unit = "LIST",
                  .sentence = "Mix datasets, PATH:WEIGHT,PATH:WEIGHT…, instead of PATH",
                  .detail = "Draws in these proportions; each sample of a dataset comes once "
                            "before any comes again.",
                  .check = check_mix},
                 order.mix);
  way(add_paths(app, mix, {.paths = [&order] { return mix_paths(order); }}), "LIST")
      ->excludes(dataset);
  add_option(app, loader::draws_row, order.draws);
}

void expect_dataset(const std::filesystem::path& path, const OrderRequest& order) {
  if (path.empty() && order.mix.empty()) throw CLI::RequiredError("PATH or --mix");
  if (order.draws != 0 && order.weights.empty() && order.mix.empty())
    throw formats::Error("--draws needs --weights or --mix");
}

}  // namespace feedrate::tools
