#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "formats/container.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;

struct Options {
  std::filesystem::path path;
  bool json = false;
};

int run(const Options& options) {
  const Container& container = container_at(options.path);
  ordered_json files = ordered_json::array();
  std::string text;
  for (const std::filesystem::path& file : container.write_index(options.path)) {
    files.push_back(file.string());
    text += file.string() + "\n";
  }
  const ordered_json object{
      {"path", options.path.string()}, {"format", container.name()}, {"files", files}};
  print(options.json ? json_text(object) : text);
  return exit_done;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PATH", options->path, "The dataset: a directory, or one file of it")->required();
  add_json(app, options->json);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command index_command;
const Command index_command{
    .name = "index",
    .summary = "Rebuilds the index files of a dataset from its data",
    .description =
        R"(Writes the .idx file beside every .rec, TFRecord file or tar of a dataset and replaces
one that is stale or damaged. Reads only the starts of the records. Feedrate can read a
dataset without index files, but has to scan all records first; MXNet and DALI need
them. Prints the names of the files written.)",
    .examples = R"(  feedrate index train.rec
  feedrate index data/tfrecord/train
)",
    .prepare = prepare};

}  // namespace feedrate::tools
