#include "converters/synth.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

struct SynthRequest {
  std::string what;
  std::filesystem::path out;
  SynthOptions synth;
};

int run_synth(const SynthRequest& options) {
  const GracefulStop graceful;
  const Synth& maker = synth(options.what);
  Progress progress("synth " + options.what, "images");
  SynthOptions settings = options.synth;
  settings.progress = progress.callback();
  make_archives(maker, options.out, settings);
  note(fmt::format("wrote {} with {} to {}", options.what,
                   counted(settings.images, "training image"), options.out.string()));
  return exit_done;
}

std::function<int()> prepare_synth(CLI::App& app) {
  auto options = std::make_shared<SynthRequest>();
  const auto known = kind_names(synths());
  add_argument(app, "KIND",
               {.name = "kind",
                .names = [] { return kind_names(synths()); },
                .check = [](std::string_view name) { synth(name); }},
               options->what)
      ->required()
      ->description(fmt::format("Dataset to imitate: {}", fmt::join(known, ", ")));
  add_output(app,
             {.name = "--out",
              .description = "Directory to create; must not exist",
              .use = PathUse::creates},
             options->out)
      ->required();
  add_option(app,
             {.name = "images", .unit = "N", .sentence = "Number of training images", .min = 1},
             options->synth.images);
  add_option(app, {.name = "seed", .unit = "N", .sentence = "Seed of all random choices"},
             options->synth.seed);
  return [options] { return run_synth(*options); };
}

}  // namespace

extern const Command synth_command;
const Command synth_command{
    .name = "synth",
    .job = Job::data,
    .summary = "Make synthetic archives in the layout of published ones",
    .description =
        R"(Draw images that a network can learn from and pack them like a published dataset, for tests
and where nothing can be downloaded. The same seed gives the same bytes on every machine.)",
    .examples = R"(  feedrate synth mnist --images 60000 --out archives
  feedrate convert mnist archives --to lmdb --split all --out data
  feedrate synth imagenet-kaggle --images 1000 --out kaggle
)",
    .prepare = prepare_synth};

}  // namespace feedrate::tools
