#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "converters/source.h"
#include "formats/container.h"
#include "loader/recipe.h"
#include "loader/recipes/part.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/presets/preset.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;
using namespace loader;
using namespace trainer;

namespace {

using nlohmann::ordered_json;

struct ListRequest {
  std::string what;
  bool json = false;
};

/// A kind in a list: its name and summary, and figures that only its registry has.
struct Row {
  std::string name;
  std::string summary;
  std::string detail;  // the figures as text
  ordered_json more;   // the figures as JSON
};

struct Registry {
  std::string_view name;
  std::vector<Row> (*rows)();
};

template <class Kinds, class Describe>
std::vector<Row> rows_of(const Kinds& kinds, const Describe& describe) {
  std::vector<Row> rows;
  for (const auto* kind : kinds) {
    rows.push_back({std::string(kind->name()), std::string(kind->summary()), "", {}});
    describe(*kind, rows.back());
  }
  return rows;
}

template <class Kinds>
std::vector<Row> plain_rows(const Kinds& kinds) {
  return rows_of(kinds, [](const Kind&, Row&) {});
}

std::vector<Row> network_rows() {
  return rows_of(networks(), [](const Network& kind, Row& row) {
    const Shape input = kind.published_input();
    const Graph graph = kind.build(input, kind.published_classes());
    const std::uint64_t activation_bytes = graph.activations() * sizeof(float);
    row.detail =
        fmt::format("{} in, {} classes: {} parameters, {} multiply-adds, {} bytes of activations",
                    shape_text(input), kind.published_classes(),
                    grouped(static_cast<std::uint64_t>(graph.parameter_count())),
                    grouped(graph.macs()), grouped(activation_bytes));
    row.more = {{"parameters", graph.parameter_count()},
                {"macs", graph.macs()},
                {"activation_bytes", activation_bytes},
                {"batch", kind.recipe().batch}};
  });
}

std::vector<Row> preset_rows() {
  return rows_of(presets(), [](const Preset& kind, Row& row) {
    const TrainRecipe& recipe = kind.recipe();
    const bool by_steps = recipe.length.steps > 0;
    const std::uint64_t length = by_steps ? recipe.length.steps : recipe.length.epochs;
    row.detail = fmt::format("{}: {} of {}, {} at {}, recipe {}", kind.network(),
                             counted(length, by_steps ? "step" : "epoch"), recipe.batch,
                             recipe.update.optimizer, recipe.schedule.rate, kind.augmentation());
    row.more = {{"network", kind.network()},
                {"batch", recipe.batch},
                {by_steps ? "steps" : "epochs", length},
                {"optimizer", recipe.update.optimizer},
                {"rate", recipe.schedule.rate},
                {"schedule", recipe.schedule.policy},
                {"recipe", kind.augmentation()}};
  });
}

std::vector<Row> device_rows() {
  return rows_of(backends(), [](const Backend& kind, Row& row) {
    const std::string why_not = kind.unavailable();
    const std::string device = why_not.empty() ? kind.device_name() : "";
    row.detail = why_not.empty() ? device : "not available: " + why_not;
    row.more = {{"available", why_not.empty()},
                {"device", or_null<ordered_json>(device)},
                {"reason", or_null<ordered_json>(why_not)}};
  });
}

std::vector<Row> part_rows() {
  return rows_of(recipe_parts(), [](const PartKind& kind, Row& row) {
    std::vector<std::string_view> names;
    for (const auto& parameter : kind.parameters()) names.push_back(parameter.name);
    row.detail = fmt::format("{}", fmt::join(names, ", "));
    row.more = {{"parameters", names}};
  });
}

constexpr Registry registries[] = {
    {"sources", [] { return plain_rows(sources()); }},
    {"formats", [] { return plain_rows(containers()); }},
    {"codecs", [] { return plain_rows(codecs()); }},
    {"recipes", [] { return plain_rows(recipes()); }},
    {"parts", part_rows},
    {"networks", network_rows},
    {"presets", preset_rows},
    {"optimizers", [] { return plain_rows(optimizers()); }},
    {"devices", device_rows},
};

std::vector<std::string_view> registry_names() {
  std::vector<std::string_view> names;
  for (const Registry& registry : registries) names.push_back(registry.name);
  return names;
}

int run_list(const ListRequest& options) {
  ordered_json object;
  std::string text;
  for (const Registry& registry : registries) {
    if (!options.what.empty() && registry.name != options.what) continue;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", registry.name);
    ordered_json& list = object[std::string(registry.name)] = ordered_json::array();
    const std::vector<Row> rows = registry.rows();
    std::size_t width = 10;  // columns of the names
    for (const Row& row : rows) width = std::max(width, row.name.size());
    for (const Row& row : rows) {
      text += fmt::format("  {:<{}} {}\n", row.name, width, row.summary);
      if (!row.detail.empty()) text += fmt::format("  {:<{}} {}\n", "", width, row.detail);
      list.push_back({{"name", row.name}, {"summary", row.summary}});
      if (row.more.is_object()) list.back().update(row.more);
    }
  }
  print(options.json ? json_text(object) : text);
  return exit_done;
}

std::function<int()> prepare_list(CLI::App& app) {
  auto options = std::make_shared<ListRequest>();
  check_names(app.add_option("WHAT", options->what,
                             "One list: sources, formats, codecs, recipes, networks, …"),
              {"list", "", registry_names()});
  add_json(app, options->json);
  return [options] { return run_list(*options); };
}

}  // namespace

extern const Command list_command;
const Command list_command{
    .name = "list",
    .summary = "Lists the names that other commands accept",
    .description =
        R"(Lists the names that other commands accept: published sources, formats, codecs,
augmentation recipes, the parts that a recipe can be composed of, joined by + as in
imagenet-train+color-jitter:hue=0.1, and their parameters, networks with their parameters and, for one image, their
multiply-adds and activations (fp32, before memory is shared), presets (complete training
settings), optimizers, and devices, with the reason if one cannot be used here.)",
    .examples = R"(  feedrate list
  feedrate list devices --json
)",
    .prepare = prepare_list};

}  // namespace feedrate::tools
