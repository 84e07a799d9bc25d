#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "converters/source.h"
#include "formats/container.h"
#include "loader/recipe.h"
#include "loader/recipes/part.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/advise/published_rate_fields.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
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

constexpr std::string_view all_lists = "all";

struct ListRequest {
  std::string what;
  std::filesystem::path rates;  // "": the published ones
  bool json = false;
};

struct Listed {
  std::string name;
  std::string summary;

  std::string detail() const { return {}; }
};

struct ListedPart {
  Listed kind;
  std::vector<std::string_view> parameters;

  std::string detail() const { return fmt::format("{}", fmt::join(parameters, ", ")); }
};

struct ListedNetwork {
  Listed kind;
  Shape input = {};
  std::uint32_t classes = 0;
  std::int64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint64_t activation_bytes = 0;
  std::uint32_t batch = 0;

  std::string detail() const {
    return fmt::format(
        "{} in, {} classes: {} parameters, {} multiply-adds, {} bytes of activations",
        shape_text(input), classes, grouped(static_cast<std::uint64_t>(parameters)), grouped(macs),
        grouped(activation_bytes));
  }
};

struct ListedPreset {
  Listed kind;
  std::string network;
  TrainRecipe settings;
  std::string augmentation;

  bool by_steps() const { return settings.length.steps > 0; }
  std::string detail() const {
    return fmt::format("{}: {} of {}, {} at {}, recipe {}", network,
                       by_steps() ? counted(settings.length.steps, "step")
                                  : counted(settings.length.epochs, "epoch"),
                       settings.batch, settings.update.optimizer, settings.schedule.rate,
                       augmentation);
  }
};

struct ListedDevice {
  Listed kind;
  std::string device;
  std::string why_not;

  std::string detail() const { return why_not.empty() ? device : "not available: " + why_not; }
};

struct ListedRate {
  Listed kind;
  PublishedRate rate;

  std::string detail() const { return origin_text(rate); }
};

/// The lists that were asked for.
struct Lists {
  std::optional<std::vector<Listed>> sources, formats, codecs, recipes;
  std::optional<std::vector<ListedPart>> parts;
  std::optional<std::vector<ListedNetwork>> networks;
  std::optional<std::vector<ListedPreset>> presets;
  std::optional<std::vector<Listed>> optimizers;
  std::optional<std::vector<ListedDevice>> devices;
  std::optional<std::vector<ListedRate>> rates;
};

const Listed& kind_of(const Listed& row) { return row; }
const Listed& kind_of(const auto& row) { return row.kind; }

template <class Kind>
Listed listed(const Kind& kind) {
  return {std::string(kind.name()), std::string(kind.summary())};
}
ListedPart listed_part(const PartKind& kind) {
  ListedPart part{listed(kind), {}};
  for (const auto& parameter : kind.parameters()) part.parameters.push_back(parameter.name);
  return part;
}
ListedNetwork listed_network(const Network& kind) {
  const Shape input = kind.published_input();
  const std::uint32_t classes = kind.published_classes();
  const Graph graph = kind.build(input, classes);
  return {listed(kind),
          input,
          classes,
          graph.parameter_count(),
          graph.macs(),
          graph.activations() * sizeof(float),
          kind.recipe().batch};
}
ListedPreset listed_preset(const Preset& kind) {
  return {listed(kind), std::string(kind.network()), kind.recipe(),
          std::string(kind.augmentation())};
}
ListedDevice listed_device(const Backend& kind) {
  const std::string why_not = kind.unavailable();
  return {listed(kind), why_not.empty() ? kind.device_name(0) : "", why_not};
}

/// One that need not be here.
ListedDevice elsewhere(const std::string& name) {
  return {{name, "for emulation only: 'bench --emulate', 'advise --for'"},
          {},
          "its published rates are in 'feedrate list rates'"};
}

ListedRate listed_rate(const PublishedRate& rate) {
  const std::string all = rate.devices == 1 ? rate.device : join(rate.device, "x", rate.devices);
  return {{all, fmt::format("{}: {} images/s", rate.network, quantity(rate.images_per_second))},
          rate};
}

/// All, or with a name that one.
Lists make_lists(std::string_view what, std::span<const PublishedRate> rates) {
  const auto list = [&](std::string_view name, auto& made, const auto& kinds, const auto& row_of) {
    if (!what.empty() && what != name) return;
    made.emplace();
    for (const auto* kind : kinds) made->push_back(row_of(*kind));
  };
  const auto plain = [](const auto& kind) { return listed(kind); };
  Lists lists;
  list("sources", lists.sources, sources(), plain);
  list("formats", lists.formats, all_containers(), plain);
  list("codecs", lists.codecs, codecs(), plain);
  list("recipes", lists.recipes, recipes(), plain);
  list("parts", lists.parts, recipe_parts(), listed_part);
  list("networks", lists.networks, networks(), listed_network);
  list("presets", lists.presets, presets(), listed_preset);
  list("optimizers", lists.optimizers, optimizers(), plain);
  list("devices", lists.devices, backends(), listed_device);
  if (lists.devices) {
    for (const std::string& name : device_names(rates)) lists.devices->push_back(elsewhere(name));
  }
  if (what.empty() || what == "rates") {
    lists.rates.emplace();
    for (const PublishedRate& rate : rates) lists.rates->push_back(listed_rate(rate));
  }
  return lists;
}

}  // namespace

template <>
inline constexpr Heading heading_of<Listed>{"kind", "A name that options accept."};

template <class Field>
void for_each_field(const Listed& kind, const Field& field) {
  field("name", kind.name, {"what options accept"});
  field("summary", kind.summary, {"what it is, in a sentence"});
}

template <class Field>
void for_each_field(const ListedPart& part, const Field& field) {
  for_each_field(part.kind, field);
  field("parameters", part.parameters, {"their names"});
}

template <class Field>
void for_each_field(const ListedNetwork& network, const Field& field) {
  for_each_field(network.kind, field);
  field("parameters", network.parameters, {"learned values"});
  field("macs", network.macs, {"multiply-adds of a forward pass, for one image"});
  field("activation_bytes", network.activation_bytes,
        {"of all layers' outputs for one image, fp32, before memory is shared"});
  field("batch", network.batch, {"batch size of the published training"});
}

template <class Field>
void for_each_field(const ListedPreset& preset, const Field& field) {
  const TrainRecipe& settings = preset.settings;
  for_each_field(preset.kind, field);
  field("network", preset.network, {"network that it trains"});
  field("batch", settings.batch, {"images in a step"});
  field("steps", only_if(preset.by_steps(), settings.length.steps),
        {"length; a preset has this or the next", Absent{"it has the other"}});
  field("epochs", only_if(!preset.by_steps(), settings.length.epochs),
        {"length; a preset has this or the previous", Absent{"it has the other"}});
  field("optimizer", settings.update.optimizer, {"that updates the parameters"});
  field("rate", settings.schedule.rate, {"base learning rate"});
  field("schedule", settings.schedule.policy, {"how the learning rate changes"});
  field("recipe", preset.augmentation, {"of the loader"});
}

template <class Field>
void for_each_field(const ListedDevice& device, const Field& field) {
  for_each_field(device.kind, field);
  field("available", device.why_not.empty(), {"can be used here"});
  field("device", unless_empty(device.device), {"what it is", Null{"it cannot be used"}});
  field("reason", unless_empty(device.why_not), {"why it cannot be used", Null{"it can be used"}});
}

template <class Field>
void for_each_field(const ListedRate& listed, const Field& field) {
  for_each_field(listed.kind, field);
  field("published", listed.rate, {"what was published"});
}

template <>
inline constexpr Heading heading_of<Lists>{
    "list", "What `feedrate list` prints. With a name, only that key."};

template <class Field>
void for_each_field(const Lists& lists, const Field& field) {
  const auto list = [&](const char* key, const auto& rows, std::string_view meaning) {
    field(key, rows, {meaning, Absent{"another name was given"}});
  };
  list("sources", lists.sources, "published datasets that convert reads");
  list("formats", lists.formats, "dataset formats");
  list("codecs", lists.codecs, "image codecs");
  list("recipes", lists.recipes, "augmentation recipes");
  list("parts", lists.parts, "parts of recipes, added with +");
  list("networks", lists.networks, "networks to train");
  list("presets", lists.presets, "complete training settings");
  list("optimizers", lists.optimizers, "how parameters are updated");
  list("devices", lists.devices, "devices to train on, or to emulate");
  list("rates", lists.rates, "published training rates of devices");
}

Description describe_list() { return description_of(Lists{}); }

namespace {

std::string lists_text(const Lists& lists) {
  std::string text;
  for_each_field(lists, [&](std::string_view name, const auto& rows, const About&) {
    if (!rows) return;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", name);
    std::vector<std::array<std::string, 3>> cells;
    for (const auto& row : *rows) {
      const Listed& kind = kind_of(row);
      cells.push_back({kind.name, kind.summary, row.detail()});
    }
    std::size_t width = 10;  // columns of the names
    for (const auto& [kind, summary, detail] : cells) width = std::max(width, kind.size());
    for (const auto& [kind, summary, detail] : cells) {
      text += fmt::format("  {:<{}} {}\n", kind, width, summary);
      if (!detail.empty()) text += fmt::format("  {:<{}} {}\n", "", width, detail);
    }
  });
  return text;
}

std::vector<std::string_view> list_names() {
  std::vector<std::string_view> names;
  for (const Key& key : describe_list().keys) names.push_back(key.name);
  names.push_back(all_lists);
  return names;
}

/// The lists that there are.
std::string names_text() {
  std::string text = "Lists of 'feedrate list NAME':\n";
  for (const Key& key : describe_list().keys) {
    text += fmt::format("  {:<12}{}\n", key.name, key.about.meaning);
  }
  return text + fmt::format("  {:<12}all of these\n", all_lists);
}

int run_list(const ListRequest& options) {
  const std::vector<PublishedRate> rates = known_rates(options.rates);
  if (options.what.empty() && !options.json) {
    print(names_text());
    return exit_done;
  }
  const Lists lists = make_lists(options.what == all_lists ? "" : options.what, rates);
  print(options.json ? json_text_of(lists) : lists_text(lists));
  return exit_done;
}

std::function<int()> prepare_list(CLI::App& app) {
  auto options = std::make_shared<ListRequest>();
  add_argument(app, "WHAT",
               {.name = "what",
                .sentence = "A list, or all (default: the names of the lists)",
                .names = list_names,
                .check = [](std::string_view name) { expect_known("list", name, list_names()); }},
               options->what);
  add_input(app, "--rates", options->rates, published_or_own_rates)->type_name("FILE");
  add_json(app, options->json);
  return [options] { return run_list(*options); };
}

}  // namespace

extern const Command list_command;
const Command list_command{
    .name = "list",
    .job = Job::shell,
    .summary = "List the names that options accept",
    .description =
        R"(List the sources, formats, codecs, recipes and their parts, networks, presets, optimizers,
devices and published rates that other commands accept.)",
    .examples = R"(  feedrate list
  feedrate list devices --json
)",
    .prepare = prepare_list};

}  // namespace feedrate::tools
