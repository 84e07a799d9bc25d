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
  way(add_input(app, "--order", order.order,
                "The samples of an epoch: a file with an index in each line"),
      "FILE");
  way(add_paths(
          app,
          app.add_option("--weights", order.weights,
                         "Draw samples by weight: a file with a number in each line, or balanced"),
          {.paths = [&order] { return weight_files(order); }}),
      "FILE");
  way(add_option(app,
                 {.name = "groups",
                  .unit = "PxK",
                  .sentence = "Put P classes with K samples of each together in a batch",
                  .check = check_groups},
                 order.groups),
      "PxK");
  CLI::Option* mix = add_option(
      app,
      {.name = "mix",
       .unit = "LIST",
       .sentence = "Draw from several datasets, PATH:WEIGHT,PATH:WEIGHT…, instead of PATH",
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
