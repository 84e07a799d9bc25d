#include "converters/downloads/fetch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/console/advised_error.h"
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

constexpr std::string_view offline_advice =
    "Without a network: --from DIR, or 'feedrate synth mnist --out archives'.";

struct FetchRequest {
  std::string what;
  std::filesystem::path out;
  std::string from;
};

/// The files that --from names, if it is a directory.
std::vector<std::filesystem::path> taken_files(const FetchRequest& options) {
  std::vector<std::filesystem::path> files;
  for (const PublishedFile& file : published_set(options.what).files()) {
    files.push_back(std::filesystem::path(options.from) / file.name);
  }
  return files;
}

int run_fetch(const FetchRequest& options) {
  const GracefulStop graceful;
  const Published& set = published_set(options.what);
  Progress progress("fetch " + options.what, "bytes");
  const FetchOptions settings{
      .from = options.from,
      .progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
        progress.update(done, total);
      }};
  const auto download = [&] { return fetch(set, options.out, settings); };
  const unsigned fetched = options.from.empty() ? advised(offline_advice, download) : download();
  note(fmt::format("{} of {} in {}, all with their published hashes; {} were already there",
                   counted(set.files().size(), "file"), options.what, options.out.string(),
                   set.files().size() - fetched));
  return exit_done;
}

std::function<int()> prepare_fetch(CLI::App& app) {
  auto options = std::make_shared<FetchRequest>();
  const auto known = kind_names(published_sets());
  add_argument(app, "NAME",
               {.name = "name",
                .names = [] { return kind_names(published_sets()); },
                .check = [](std::string_view name) { published_set(name); }},
               options->what)
      ->required()
      ->description(fmt::format("One of {}", fmt::join(known, ", ")));
  add_output(app,
             {.name = "--out",
              .description = "Directory for the files; created if missing",
              .use = PathUse::fills},
             options->out)
      ->required();
  CLI::Option* from =
      app.add_option("--from", options->from, "Directory or URL to use instead of the mirrors");
  add_paths(app, from, {.paths = [options] { return taken_files(*options); }})
      ->type_name("URL|DIR");
  return [options] { return run_fetch(*options); };
}

}  // namespace

extern const Command fetch_command;
const Command fetch_command{
    .name = "fetch",
    .job = Job::data,
    .summary = "Download a published dataset and check its hashes",
    .description =
        R"(Download the files of a published dataset and check their published hashes. An interrupted
download continues when the same command runs again.)",
    .details =
        R"(--out: A file gets its name only after its hash has been checked.
--from: The mirrors are tried one after the other.)",
    .examples = R"(  feedrate fetch fashion-mnist --out archives
  feedrate fetch fashion-mnist --from /usr/share/datasets/fashion-mnist --out archives
)",
    .prepare = prepare_fetch};

}  // namespace feedrate::tools
