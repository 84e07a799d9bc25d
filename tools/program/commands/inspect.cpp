#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "formats/dataset.h"
#include "formats/inspect/contact_sheet.h"
#include "formats/io/file.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "tools/program/commands/inspect_report.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct InspectRequest {
  fs::path path;
  std::uint64_t samples = 5;
  bool all = false;
  fs::path sheet;
  bool json = false;
};

void write_sheet(const Dataset& dataset, const Survey& survey, const fs::path& file) {
  const Image sheet = contact_sheet(dataset, survey);
  Buffer png;
  png_codec.encode(sheet, png);
  write_text(file, {reinterpret_cast<const char*>(png.data()), png.size()});
  note(fmt::format("wrote {}", file.string()));
}

Survey survey_all(const Dataset& dataset) {
  Progress progress("inspect", "images");
  SurveyLimits limits;
  limits.samples = 0;
  limits.seconds = 0;
  return survey(dataset, limits, progress.callback());
}

int run_inspect(const InspectRequest& options) {
  const GracefulStop graceful;
  const std::unique_ptr<Dataset> dataset = open_as_found(options.path);
  const Survey looked = options.all ? survey_all(*dataset) : survey(*dataset);
  const Inspection found = inspect(*dataset, looked, options.samples);
  if (!options.sheet.empty()) write_sheet(*dataset, looked, options.sheet);
  print(options.json ? inspection_json(found) : inspection_text(found));
  return exit_done;
}

std::function<int()> prepare_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectRequest>();
  add_input(app, "PATH", options->path, "Dataset, or its URL")->required();
  add_option(app, {.name = "samples", .unit = "N", .sentence = "Samples to list, from the first"},
             options->samples);
  app.add_flag("--all", options->all, "Examine every sample, so that all figures are exact");
  add_output(app,
             {.name = "--sheet", .description = "Draw images of every class into this PNG file"},
             options->sheet);
  add_remote_options(app);
  add_json(app, options->json);
  return [options] { return run_inspect(*options); };
}

}  // namespace

extern const Command inspect_command;
const Command inspect_command{
    .name = "inspect",
    .job = Job::data,
    .summary = "Describe a dataset and draw some of its images",
    .description =
        R"(Describe a dataset of any format, Feedrate's or another tool's, on one screen: files,
classes, sizes, codecs and the first samples.)",
    .details =
        R"(--all: Otherwise at most 10,000 samples, spread evenly, are examined for at most 0.15 s, and
figures that come from these alone say so.
--sheet: Up to a hundred images with the names of their classes.
--json: class_counts counts all samples if all were examined (as with --all), else has the
counts of feedrate.json, else counts the examined samples; class_counts_from says which: all,
sidecar, some. classes is the number in feedrate.json, or the largest label seen + 1 if that is
more. looked_at describes the examined samples only.)",
    .examples = R"(  feedrate inspect data/lmdb/train --samples 3
  feedrate inspect train.rec --all
  feedrate inspect data/lmdb/train --sheet sheet.png
)",
    .prepare = prepare_inspect};

}  // namespace feedrate::tools
